#pragma once

#include "decoding/lines/batch_pipeline.h"
#include "decoding/translator_impl.h"

namespace fuselage {

/// Translates lines by top-up batching and hands their translations on in input order. Throws the
/// first error in input order.
void translate_in_order(const Translator::Impl& translator, const Translator::Lines& lines,
                        const Translator::Sink& sink, const InputReady& ready);

}  // namespace fuselage
