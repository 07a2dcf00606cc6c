// SPDX-License-Identifier: Apache-2.0
// A seeded simulation of feeds. Requests of publishers, followers and workers are lost, repeated
// and late; the actors crash at any point, and their clocks jump. Time is virtual; the recipe and
// the database are real.
//
// One thread plays all actors. At any request of one actor, others can act until their end or their
// crash, up to three levels deep. At the end, all delayed requests arrive, some after the last
// delivery. Then each feed must be right:
// * Every feed shows a post as the author's own feed does, or does not show it if that feed does
//   not. Feeds of users who followed the author after the post began to change are excepted.
// * An acknowledged post that nobody tried to retract is once in the feed of each user who followed
//   its author the whole time. That is from before the first attempt to the end.
// * A post with an acknowledged retraction is in no feed.
// * Replaced content is not shown if the edit began later and was acknowledged.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "recipes/recipe_test.h"
#include "stator/recipes/feed.h"
#include "support/from_environment.h"

namespace stator::test {
namespace {

using namespace std::chrono_literals;

constexpr int kRuns = 2'000;
constexpr int kSteps = 10;
constexpr int kDepth = 3;

// Sleeps end at times from the seed, because the recipe's own jitter is random.
class SimulatedTime final : public TimeSource {
 public:
  explicit SimulatedTime(std::mt19937_64& random) : random_(random) {}

  Time now() override { return wall_; }
  std::chrono::nanoseconds since_boot() override { return since_boot_; }
  bool sleep(std::chrono::nanoseconds, std::stop_token stop) override {
    pass(std::chrono::milliseconds(random_() % 500));
    return !stop.stop_requested();
  }
  void pass(std::chrono::nanoseconds duration) {
    wall_ = wall_ + duration;
    since_boot_ += duration;
  }
  void jump(std::chrono::nanoseconds by) { wall_ = wall_ + by; }

 private:
  std::mt19937_64& random_;
  Time wall_ = Time::parse("2024-05-01T12:00:00Z").value();
  std::chrono::nanoseconds since_boot_ = 1h;
};

// Followers outside the table, so that the feed does not see when they leave.
class Elsewhere final : public Followers {
 public:
  Result<Page<UserId>> page(const UserId& author, int, const std::string&) override {
    Page<UserId> page;
    for (const auto& [whom, who] : follows) {
      if (whom == author.text) page.items.push_back({who});
    }
    return page;
  }
  Result<Page<UserId>> following(const UserId& user, int, const std::string&) override {
    Page<UserId> page;
    for (const auto& [whom, who] : follows) {
      if (who == user.text) page.items.push_back({whom});
    }
    return page;
  }
  std::set<std::pair<std::string, std::string>> follows;
};

struct Edit {
  std::string content;
  int began = 0;
  int ended = 0;
  bool acknowledged = false;
};

struct Written {
  UserId author;
  std::optional<PostId> id;
  std::string content;
  std::set<std::string> owed;  // these followers must get the post
  std::vector<Edit> edits;
  bool acknowledged = false;
  int changed = INT32_MAX;  // when the first edit or retraction began
  bool tried_to_retract = false;
  bool retracted = false;
};

struct Relation {
  int unfollows = 0;  // number of unfollows begun
  int ongoing = 0;
  int followed = 0;      // when the last follow() began
  bool follows = false;  // acknowledged, and no unfollow has begun since
};

class World {
 public:
  World(Client& database, uint64_t seed, int run)
      : random_(seed), name_(std::to_string(run) + "."), client_(database) {
    options_ = {.table = "Feeds",
                .layout = chance(3) ? FeedLayout::kNewestFirst : FeedLayout::kOrdered,
                .followers_table = "Followers",
                .parallel_writes = 1,
                .keep_retracted = std::chrono::days(3650),
                .merge_over = chance(3) ? 1 : 0,
                .outbox_shards = 1,
                .user_prefix = name_,
                .retry = {.max_attempts = 3},
                .time = &time_};
    if (options_.layout == FeedLayout::kNewestFirst) options_.table = "NewestFirst";
    if (chance(4)) {
      elsewhere_ = std::make_shared<Elsewhere>();
      options_.followers = elsewhere_;
    }
    publisher_ = std::make_unique<Feed>(client_, options_);
    client_.before([this](std::string_view, int) { return fate(); });
  }

  void play() {
    for (int i = 0; i < kSteps; ++i) act();
    is_quiet_ = true;
    for (std::size_t left = client_.delayed() / 2; left > 0; --left) arrive();
    deliver_all();
    while (client_.delayed() > 0) arrive();
    deliver_all();
    check();
  }

 private:
  // An actor's remaining requests until it dies.
  struct Actor {
    int requests_left;
  };

  bool chance(int of) { return random_() % static_cast<uint64_t>(of) == 0; }
  template <class T>
  T& one_of(std::vector<T>& all) {
    return all[random_() % all.size()];
  }
  Feed feed() { return Feed(client_, options_); }
  void arrive() { client_.arrive(random_() % client_.delayed()); }

  void move_time() {
    if (!chance(4)) return time_.pass(std::chrono::seconds(random_() % 40));
    time_.jump(std::chrono::minutes(random_() % 180) - 90min);
  }

  Fate fate() {
    if (is_quiet_) return pass();
    const std::size_t self = actors_.size() - 1;
    if (actors_[self].requests_left <= 0) return lose_request();
    if (client_.delayed() > 0 && chance(8)) arrive();
    if (chance(6)) move_time();
    if (actors_.size() < kDepth && chance(6)) act();
    const bool dies = --actors_[self].requests_left == 0;
    switch (random_() % (dies ? 4 : 24)) {
      case 0:
        return lose_request();
      case 1:
        return lose_reply();
      case 2:
      case 3:
        return delay();
      case 4:
        return echo();
      case 5:
        return repeat();
      default:
        return pass();
    }
  }

  void act() {
    actors_.push_back({chance(4) ? static_cast<int>(1 + random_() % 12) : 1'000});
    switch (random_() % 10) {
      case 0:
      case 1:
        publish();
        break;
      case 2:
        publish_again();
        break;
      case 3:
        edit();
        break;
      case 4:
        retract();
        break;
      case 5:
      case 6:
        follow();
        break;
      case 7:
        unfollow();
        break;
      default:
        (void)feed().deliver_pending();
        break;
    }
    actors_.pop_back();
  }

  void publish() {
    Written post{.author = one_of(authors_)};
    if (!chance(4)) {
      post.id = PostId::make(time_.now(), std::to_string(posts_.size()));
    }
    post.content = std::to_string(posts_.size()) + ".";
    for (const UserId& user : users_) {
      if (user != post.author && relation(user, post.author).follows) post.owed.insert(user.text);
    }
    posts_.push_back(post);
    const std::size_t index = posts_.size() - 1;
    const auto published = publisher_->publish(post.author, post.content, post.id);
    if (!published) {
      EXPECT_NE(published.error().code, Code::kInFuture);  // even if the clock is wrong
      return;
    }
    posts_[index].id = published->id;
    posts_[index].acknowledged = true;
  }

  // A post with a known id, if there is one.
  std::optional<std::size_t> known_post() {
    std::vector<std::size_t> known;
    for (std::size_t i = 0; i < posts_.size(); ++i) {
      if (posts_[i].id) known.push_back(i);
    }
    return known.empty() ? std::nullopt : std::optional(one_of(known));
  }

  void publish_again() {
    const auto index = known_post();
    if (!index) return;
    const Written post = posts_[*index];
    if (feed().publish(post.author, post.content, post.id)) posts_[*index].acknowledged = true;
  }

  void edit() {
    const auto index = known_post();
    if (!index) return;
    const Written post = posts_[*index];
    const std::size_t place = post.edits.size();
    const std::string content = post.content + "edit " + std::to_string(place);
    posts_[*index].edits.push_back({.content = content, .began = ++moment_, .ended = INT32_MAX});
    posts_[*index].changed = std::min(posts_[*index].changed, moment_);
    const bool acknowledged = feed().edit(post.author, *post.id, content).has_value();
    posts_[*index].edits[place].ended = ++moment_;
    posts_[*index].edits[place].acknowledged = acknowledged;
  }

  void retract() {
    const auto index = known_post();
    if (!index) return;
    posts_[*index].tried_to_retract = true;
    posts_[*index].changed = std::min(posts_[*index].changed, ++moment_);
    const Written post = posts_[*index];
    if (feed().retract(post.author, *post.id)) posts_[*index].retracted = true;
  }

  Relation& relation(const UserId& user, const UserId& author) {
    return relations_[{user.text, author.text}];
  }

  void follow() {
    const UserId user = one_of(users_);
    const UserId author = one_of(authors_);
    if (user == author) return;
    const Relation before = relation(user, author);
    relation(user, author).followed = ++moment_;
    if (elsewhere_) {
      elsewhere_->follows.emplace(author.text, user.text);
    } else if (!feed().follow(user, author, chance(3) ? 3 : 0)) {
      return;
    }
    Relation& now = relation(user, author);
    now.follows = now.follows || (before.ongoing == 0 && before.unfollows == now.unfollows);
  }

  void unfollow() {
    const UserId user = one_of(users_);
    const UserId author = one_of(authors_);
    Relation& begun = relation(user, author);
    begun.follows = false;
    ++begun.unfollows;
    ++begun.ongoing;
    for (Written& post : posts_) {
      if (post.author == author) post.owed.erase(user.text);
    }
    if (elsewhere_) {
      elsewhere_->follows.erase({author.text, user.text});
    } else {
      (void)feed().unfollow(user, author);
    }
    --relation(user, author).ongoing;
  }

  void deliver_all() {
    for (int i = 0; i < 3; ++i) {
      time_.pass(1h);
      EXPECT_OK(feed().deliver_pending());
    }
    EXPECT_EQ(feed().deliver_pending().value().posts, 0);
  }

  // By the number at the beginning of the content.
  std::map<std::size_t, std::vector<Post>> posts_read_by(const UserId& user) {
    std::map<std::size_t, std::vector<Post>> found;
    const auto page = feed().read(user, 1000);
    EXPECT_OK(page);
    if (!page) return found;
    for (const Post& post : page->items) found[std::stoul(post.content)].push_back(post);
    return found;
  }

  void check() {
    std::map<UserId, std::map<std::size_t, std::vector<Post>>> read;
    for (const UserId& user : users_) read[user] = posts_read_by(user);
    for (std::size_t i = 0; i < posts_.size(); ++i) {
      const Written& written = posts_[i];
      const std::vector<Post>& truth = read[written.author][i];
      ASSERT_LE(truth.size(), 1U) << "post " << i;
      if (written.retracted) {
        EXPECT_TRUE(truth.empty()) << "post " << i << " is back";
      }
      if (written.acknowledged && !written.tried_to_retract) {
        EXPECT_EQ(truth.size(), 1U) << "post " << i << " is lost";
      }
      if (!truth.empty()) check_content(i, truth[0].content);
      for (const UserId& user : users_) {
        const std::vector<Post>& shown = read[user][i];
        if (shown.empty()) {
          EXPECT_TRUE(truth.empty() || !written.acknowledged || !written.owed.contains(user.text))
              << user.text << " lacks post " << i << " of " << written.author.text;
        } else if (relation(user, written.author).followed < written.changed) {
          EXPECT_EQ(shown, truth) << user.text << " has another post " << i;
        }
      }
    }
  }

  void check_content(std::size_t index, const std::string& content) {
    const Written& post = posts_[index];
    int ended = 0;
    for (const Edit& edit : post.edits) {
      if (edit.content == content) ended = edit.ended;
    }
    for (const Edit& edit : post.edits) {
      EXPECT_FALSE(edit.acknowledged && ended < edit.began)
          << "post " << index << " is '" << content << "' after '" << edit.content << "'";
    }
  }

  std::mt19937_64 random_;
  std::string name_;
  SimulatedTime time_{random_};
  FaultyClient client_;
  FeedOptions options_;
  std::shared_ptr<Elsewhere> elsewhere_;
  std::unique_ptr<Feed> publisher_;  // one process, which keeps the time of its last post
  std::vector<UserId> authors_{{name_ + "ann"}, {name_ + "bob"}};
  std::vector<UserId> users_{authors_[0], authors_[1], {name_ + "eve"}, {name_ + "joe"}};
  std::map<std::pair<std::string, std::string>, Relation> relations_;
  std::vector<Written> posts_;
  std::vector<Actor> actors_;
  int moment_ = 0;
  bool is_quiet_ = false;
};

TEST(FeedSimulation, PostsAndRetractionsSurviveLossDelayAndCrashes) {
  Bench bench("memory");
  for (const FeedLayout layout : {FeedLayout::kOrdered, FeedLayout::kNewestFirst}) {
    const FeedOptions options{.table = layout == FeedLayout::kOrdered ? "Feeds" : "NewestFirst",
                              .layout = layout,
                              .followers_table = layout == FeedLayout::kOrdered ? "Followers" : "",
                              .merge_over = 1};
    for (const auto& table : Feed::table_definitions(options)) bench.create(table);
  }
  const uint64_t first = number_from_environment("STATOR_SEED", std::random_device{}());
  const uint64_t runs = number_from_environment("STATOR_RUNS", kRuns);
  for (uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE("STATOR_SEED=" + std::to_string(first + run) + " STATOR_RUNS=1");
    World(*bench.home.client, first + run, static_cast<int>(run)).play();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace stator::test
