"""Serves a folder to this machine and tells its address: serve.py FOLDER [HEADER=VALUE...], headers of all answers."""

import functools
import http.server
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, with further headers."""

    def __init__(self, *arguments, headers: dict[str, str], **options) -> None:
        self.further = headers
        super().__init__(*arguments, **options)

    def end_headers(self) -> None:
        """Ends the headers with the further ones."""
        for name, value in self.further.items():
            self.send_header(name, value)
        super().end_headers()


folder, *headers = sys.argv[1:]
handler = functools.partial(Handler, directory=folder, headers=dict(header.split("=", 1) for header in headers))
with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
