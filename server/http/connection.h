#pragma once

#include <httplib.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

namespace fuselage {

/// A client's connection as the stream that httplib reads requests from. A request has limits on
/// its bytes and on the time that it takes to arrive, so that no client holds a thread or memory by
/// sending slowly or without end.
class Connection : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;

  /// Takes the socket.
  Connection(int socket, std::chrono::milliseconds write_timeout);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Waits for the next request; false: none came, or the client has gone.
  bool wait_for_request(std::chrono::milliseconds timeout) const;

  /// Begins to read a request: its head may have so many bytes.
  void begin_request(std::size_t head_bytes, std::chrono::milliseconds timeout);
  /// The head has been read; so many bytes may follow.
  void begin_body(std::size_t bytes) { bytes_left_ = bytes; }

  bool timed_out() const { return timed_out_; }
  /// Whether any byte of a reply was sent since the request began.
  bool has_replied() const { return replied_; }
  bool too_large() const { return too_large_; }
  Clock::time_point began() const { return began_; }
  /// Whether the client still listens.
  bool is_connected() const;
  /// The connection ends with the present reply.
  void end_after_reply() { ends_ = true; }
  bool ends() const { return ends_; }
  /// Ends waiting for requests; one that has arrived is still read, and is the last.
  void stop_reading();
  bool stopped_reading() const { return stopped_reading_; }
  /// Closes the connection in a way that the client can read the last reply, although it may still
  /// be sending.
  void finish();

  /// Without waiting, reads what has come; false: nothing more can come.
  bool receive();
  /// Whether the head of a request is there, or more than there is room for.
  bool has_head() const;
  /// The last byte of the last reply: the client is told, and may end.
  void end_sending() const;
  /// Without waiting, drops what has come; false: the client has ended.
  bool drop_input();

  /// There is no thread for this connection: only what is answered at once is.
  void set_crowded() { crowded_ = true; }
  bool is_crowded() const { return crowded_; }

  const std::string& client() const { return address_; }

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* bytes, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  /// Whether the socket has one of these events in time.
  bool wait(short events, std::chrono::milliseconds timeout) const;
  ssize_t fill();

  int socket_;
  std::chrono::milliseconds write_timeout_;
  std::string address_;
  int port_ = 0;
  std::array<char, 4096> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< of what is buffered
  std::size_t bytes_left_ = 0;
  Clock::time_point began_ = {}, deadline_ = {};
  std::atomic<bool> stopped_reading_ = false;
  bool timed_out_ = false, too_large_ = false, replied_ = false, ends_ = false, crowded_ = false;
};

}  // namespace fuselage
