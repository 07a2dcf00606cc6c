// SPDX-License-Identifier: Apache-2.0
// Misuse of Toggle.
#include "stator/recipes/toggle.h"

struct Unknown {};

void misuse(const stator::Toggle<bool>& toggle, stator::Time at, const std::string& text) {
  const stator::ToggleId id{text};
  const stator::EventId event{text};
  (void)toggle.save(id, true, at, event);

#ifdef EVENT_FOR_A_TOGGLE  // says: cannot convert|could not convert|no matching|invalid
                           // initialization
  (void)toggle.save(event, true, at, event);
#endif
#ifdef TOGGLE_FOR_AN_EVENT  // says: cannot convert|could not convert|no matching|invalid
                            // initialization
  (void)toggle.save(id, true, at, id);
#endif
#ifdef TEXT_FOR_A_TIME  // says: cannot convert|could not convert|no matching
  (void)toggle.save(id, true, text, event);
#endif
#ifdef TYPE_THAT_CANNOT_BE_KEPT  // says: incomplete type
  (void)stator::Toggle<Unknown>(*static_cast<stator::Client*>(nullptr), {}).save(id, {}, at);
#endif
#ifdef VERDICT_FOR_A_BOOLEAN  // says: cannot convert|could not convert
  const bool newest = *toggle.save(id, true, at, event);
#endif
#ifdef RESULT_IGNORED  // says: ignoring return
  toggle.save(id, true, at, event);
#endif
}
