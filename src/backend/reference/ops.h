// The block ops of the reference backend: for each struct of backend/params.h, what it means, in plain f32.
// One source file an op; the sections named there are those of docs/model.md. Nothing here allocates device
// memory or knows of other backends. Pointers are host pointers; ops run to the end before they return.
#pragma once

#include "backend/params.h"
#include "spec/shape.h"

namespace orfebre::reference {

void embed(const ShapeInfo& shape, const EmbedOp& op);
void gdn_project(const ShapeInfo& shape, const GdnProjectOp& op);
// `l2_epsilon` is added to the sum of squares of q and of k.
void gdn_mix(const ShapeInfo& shape, const GdnMixOp& op, float l2_epsilon);
void gdn_output(const ShapeInfo& shape, const GdnOutputOp& op);
void attn_project(const ShapeInfo& shape, const AttnProjectOp& op);
void attn_mix(const ShapeInfo& shape, const AttnMixOp& op);
void attn_output(const ShapeInfo& shape, const AttnOutputOp& op);
void route(const ShapeInfo& shape, const RouteOp& op);
void experts_up(const ShapeInfo& shape, const ExpertsUpOp& op);
void experts_down(const ShapeInfo& shape, const ExpertsDownOp& op);
void head(const ShapeInfo& shape, const HeadOp& op);
void pick(const PickOp& op);
void copy_state(float* to, const float* from, uint64_t floats);

}  // namespace orfebre::reference
