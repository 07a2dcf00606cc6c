// SPDX-License-Identifier: Apache-2.0
// Misuse of Feed.
#include "stator/recipes/feed.h"

void misuse(const stator::Feed& feed, stator::PostId post, stator::Time at,
            const std::string& text) {
  const stator::UserId user{text};
  (void)feed.publish(user, text, post);

#ifdef TEXT_FOR_A_USER  // says: cannot convert|could not convert|no matching|invalid initialization
  (void)feed.publish(text, text, post);
#endif
#ifdef TEXT_FOR_A_POST  // says: cannot convert|could not convert|no matching
  (void)feed.publish(user, text, text);
#endif
#ifdef TIME_FOR_A_POST  // says: cannot convert|could not convert|no matching|invalid initialization
  (void)feed.retract(user, at);
#endif
#ifdef POST_AND_AUTHOR_SWAPPED  // says: cannot convert|could not convert|no matching|invalid
                                // initialization
  (void)feed.edit(post, user, text);
#endif
#ifdef CURSOR_FOR_A_COUNT  // says: cannot convert|could not convert|no matching|invalid conversion
  (void)feed.read(user, text);
#endif
#ifdef FOLLOWERS_THAT_CANNOT_TELL_WHOM_ONE_FOLLOWS  // says: abstract
  struct Half : stator::Followers {
    stator::Result<stator::Page<stator::UserId>> page(const stator::UserId&, int,
                                                      const std::string&) override;
  };
  (void)Half();
#endif
#ifdef RESULT_IGNORED  // says: ignoring return
  feed.retract(user, post);
#endif
  (void)at;
}
