#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Fuses an output layer into one node: product, k best, and optionally bias and log-softmax. Its
/// kernel processes the logits in tiles and never writes all of them.
Pass fuse_output();

/// Fuses a product, with an optional bias, and the selection of its elements for the words of
/// shortlists: the other elements are not computed. For scores that are not ranked at once, such as
/// those of the models of an ensemble.
Pass fuse_sampled_products();

}  // namespace fuselage
