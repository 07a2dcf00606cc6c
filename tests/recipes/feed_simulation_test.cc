// SPDX-License-Identifier: Apache-2.0
// A seeded simulation of feeds on several hosts. Requests of publishers, followers and workers are
// lost, repeated, refused and late; the actors crash or pause at any point; the hosts' clocks are
// skewed, drift and jump. Time is virtual; the recipe and the database are real.
//
// STATOR_SEED repeats a history, STATOR_RUNS sets their number. A history with a stream can differ
// when it is repeated, because a secret of the database distributes records and orders the shards.
//
// One thread plays all actors. At any request or pause of one actor, others can act until their end
// or their crash, up to three levels deep. At the end, all delayed requests arrive, some after the
// last delivery. Then each feed must be right:
// * Every feed shows a post as the author's own feed does, or does not show it if that feed does
//   not. If the author might have trimmed the post, no feed shows a version that it must not.
// * An acknowledged post that nobody tried to retract is once in the feed of each user who followed
//   its author the whole time and did not trim. That is from before the first attempt to the end.
// * A post with an acknowledged retraction is in no feed.
// * Replaced content is not shown if the edit began later and was acknowledged.
// * A post that was trimmed from a feed is not in it again, unless a follow() with backfill began.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "recipes/recipe_test.h"
#include "stator/recipes/feed.h"
#include "support/from_environment.h"

namespace stator::test {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kRuns = 300;  // `make soak` plays thousands
constexpr uint64_t kRunsADatabase = 20;
constexpr int kSteps = 10;
constexpr int kDepth = 3;
constexpr int kPage = 2;  // items of a query, and followers
constexpr int kHosts = 3;

// How often something happened, so that no fault or recovery is missing from the runs.
using Tally = std::map<std::string, int>;

// The clocks of one host. Sleeps end at times from the seed, because the recipe's own jitter is
// random.
class HostTime final : public TimeSource {
 public:
  // `sleeps`: called for each sleep; advances `elapsed`.
  HostTime(std::mt19937_64& random, const std::chrono::nanoseconds& elapsed,
           std::function<void()> sleeps)
      : elapsed_(elapsed),
        sleeps_(std::move(sleeps)),
        skew_(std::chrono::seconds(random() % 600) - 300s),
        drift_ppm_(static_cast<int64_t>(random() % 20'001) - 10'000) {}

  Time now() override { return start_ + own_elapsed() + skew_; }
  std::chrono::nanoseconds since_boot() override { return 1h + own_elapsed(); }
  bool sleep(std::chrono::nanoseconds, std::stop_token stop) override {
    sleeps_();
    return !stop.stop_requested();
  }
  void jump(std::chrono::nanoseconds by) { skew_ += by; }

 private:
  std::chrono::nanoseconds own_elapsed() const {
    return elapsed_ + elapsed_ / 1'000'000 * drift_ppm_;
  }

  const std::chrono::nanoseconds& elapsed_;
  std::function<void()> sleeps_;
  std::chrono::nanoseconds skew_;
  int64_t drift_ppm_;
  Time start_ = Time::parse("2024-05-01T12:00:00Z").value();
};

// Followers outside the table, so that the feed does not see when they leave.
class Elsewhere final : public Followers {
 public:
  Result<Page<UserId>> page(const UserId& author, int, const std::string& cursor) override {
    Page<UserId> page;
    for (auto at = follows.upper_bound({author.text, cursor});
         at != follows.end() && at->first == author.text; ++at) {
      if (page.items.size() == kPage) {
        page.next = page.items.back().text;
        break;
      }
      page.items.push_back({at->second});
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
  bool tried_to_retract = false;
  bool retracted = false;
  std::set<std::string> trimmed;   // these users might have trimmed it
  std::set<std::string> vanished;  // it was in these users' partitions before they trimmed it
};

struct Relation {
  int unfollows = 0;  // number of unfollows begun
  int ongoing = 0;
  bool follows = false;     // acknowledged, and no unfollow has begun since
  bool backfilled = false;  // a follow() with backfill has begun
};

class World {
 public:
  World(Client& database, uint64_t seed, Tally& tally)
      : random_(seed),
        name_(std::to_string(seed) + "."),
        database_(database),
        client_(database),
        tally_(tally) {
    const FeedLayout layout = chance(3) ? FeedLayout::kNewestFirst : FeedLayout::kOrdered;
    options_ = {.table = layout == FeedLayout::kNewestFirst ? "NewestFirst" : "Feeds",
                .layout = layout,
                .followers_table = "Followers",
                .parallel_writes = 1,
                .on_undelivered =
                    [this](const Undelivered& post) {
                      ++tally_[post.attempts > 1 ? "failed again" : "put off"];
                    },
                .keep_retracted = std::chrono::days(3650),
                .merge_over = chance(3) ? 1 : 0,
                .outbox_shards = gives_ids_ && chance(2) ? 3 : 1,
                .user_prefix = name_,
                .retry = {.max_attempts = 3}};
    if (chance(3)) {
      // A table of its own: its stream has the records of this run only.
      options_.outbox = Outbox::kStream;
      options_.table = "Streamed" + std::to_string(seed);
      EXPECT_OK(create_table_if_missing(database, Feed::table_definitions(options_)[0]));
    }
    if (chance(4)) {
      elsewhere_ = std::make_shared<Elsewhere>();
      options_.followers = elsewhere_;
    }
    for (int host = 0; host < kHosts; ++host) {
      hosts_.push_back(std::make_unique<HostTime>(random_, elapsed_, [this] { sleep(); }));
      publishers_.emplace_back(client_, on(host, options_));
    }
    if (options_.merge_over > 0) {
      EXPECT_OK(feed().deliver_pending());
      elapsed_ += 15min;  // until workers merge
    }
    client_.page_at_most(kPage);
    client_.before([this](std::string_view operation, int) { return fate(operation); });
  }

  ~World() {
    client_.before(nullptr);
    if (options_.outbox == Outbox::kStream) {
      EXPECT_OK(database_.delete_table({.table = options_.table}));
    }
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

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
  struct Actor {
    int requests_left;  // until it dies
    int host;
    int sleeps_left = 0;         // until it is stopped
    std::stop_source stop = {};  // of a worker
  };

  bool chance(int of) { return random_() % static_cast<uint64_t>(of) == 0; }
  template <class T>
  T& one_of(std::vector<T>& all) {
    return all[random_() % all.size()];
  }
  FeedOptions on(int host, FeedOptions options) {
    options.time = hosts_[static_cast<std::size_t>(host)].get();
    return options;
  }
  int host() const { return actors_.empty() ? 0 : actors_.back().host; }
  // Readers need not know whether posts are merged, nor workers how many shards others use.
  FeedOptions any_options() {
    FeedOptions options = options_;
    if (chance(3)) options.outbox_shards = 1;
    if (chance(3)) options.merge_over = 0;
    return options;
  }
  Feed feed() { return Feed(client_, on(host(), any_options())); }
  void arrive() { client_.arrive(random_() % client_.delayed()); }

  void move_time() {
    if (!chance(4)) {
      elapsed_ += std::chrono::seconds(random_() % 40);
    } else {
      ++tally_["clock jump"];
      one_of(hosts_)->jump(std::chrono::minutes(random_() % 180) - 90min);
    }
  }

  void sleep() {
    elapsed_ += std::chrono::milliseconds(random_() % 500);
    if (is_quiet_ || actors_.empty()) return;
    const std::size_t self = actors_.size() - 1;
    if (--actors_[self].sleeps_left < 0) actors_[self].stop.request_stop();
    if (chance(8)) move_time();
    if (actors_.size() < kDepth && chance(8)) act();
  }

  Fate fate(std::string_view operation) {
    if (is_quiet_) return pass();
    const std::size_t self = actors_.size() - 1;
    if (actors_[self].requests_left <= 0) return lose_request();
    if (client_.delayed() > 0 && chance(8)) arrive();
    if (chance(6)) move_time();
    // The request of a claim, before others send requests.
    std::optional<UpdateItemRequest> update;
    if (operation == "UpdateItem") update = client_.latest_update();
    if (actors_.size() < kDepth && chance(6)) act();
    if (actors_.size() == 1 && chance(30)) pause();
    if (update) note_claim(*update);
    const bool dies = --actors_[self].requests_left == 0;
    if (dies) ++tally_["crash"];
    switch (random_() % (dies ? 4 : 24)) {
      case 0:
        ++tally_["lost request"];
        return lose_request();
      case 1:
        ++tally_["lost response"];
        return lose_reply();
      case 2:
      case 3:
        ++tally_["late request"];
        return delay();
      case 4:
        ++tally_["late repetition"];
        return echo();
      case 5:
        ++tally_["repetition"];
        return repeat();
      case 6:
        ++tally_["refusal"];
        return refuse(chance(2) ? Code::kAccessDenied : Code::kThrottling);
      default:
        return pass();
    }
  }

  // Counts what a claim takes over from another worker, and where it resumes.
  void note_claim(const UpdateItemRequest& update) {
    if (!update.update || !update.update->starts_with("SET claim = :mine")) return;
    const auto there =
        database_.get_item({.table = update.table, .key = update.key, .consistent_read = true});
    if (!there || !there->item) return;
    const Item& item = *there->item;
    const auto claim = item.find("claim");
    if (claim != item.end() && claim->second != update.values->at(":mine")) {
      const auto until = item.at("claim_until").get_if<Number>();
      const bool is_free = *until < *update.values->at(":now").get_if<Number>();
      const bool is_shard = item.contains("expires_at") && !item.contains("author");
      if (is_free) ++tally_[is_shard ? "shard taken over" : "post taken over"];
    }
    if (item.contains("outbox_cursor") && item.contains("outbox")) ++tally_["resumed"];
  }

  void act() {
    actors_.push_back({.requests_left = chance(4) ? static_cast<int>(1 + random_() % 12) : 1'000,
                       .host = static_cast<int>(random_() % kHosts)});
    switch (random_() % 13) {
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
      case 7:
        follow();
        break;
      case 8:
        unfollow();
        break;
      case 9:
        trim();
        break;
      case 10:
        run_worker();
        break;
      default:
        (void)feed().deliver_pending();
        break;
    }
    actors_.pop_back();
  }

  // The actor pauses for longer than a claim lasts.
  void pause() {
    ++tally_["pause"];
    elapsed_ += 10min;
    for (int i = 0; i < 5; ++i) act();
  }

  void run_worker() {
    actors_.back().sleeps_left = static_cast<int>(2 + random_() % 20);
    const std::stop_token stop = actors_.back().stop.get_token();
    if (feed().run_worker(stop, 200ms)) ++tally_["worker"];
  }

  void publish() {
    Written post{.author = one_of(authors_)};
    if (gives_ids_) {
      post.id = PostId::make(hosts_[static_cast<std::size_t>(host())]->now(),
                             std::to_string(posts_.size()));
    }
    post.content = std::to_string(posts_.size()) + ".";
    for (const UserId& user : users_) {
      if (user != post.author && relation(user, post.author).follows) post.owed.insert(user.text);
    }
    posts_.push_back(post);
    const std::size_t index = posts_.size() - 1;
    const auto published =
        publishers_[static_cast<std::size_t>(host())].publish(post.author, post.content, post.id);
    if (!published) {
      EXPECT_NE(published.error().code, Code::kInFuture);  // even if its own clock is wrong
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
    const bool acknowledged = feed().edit(post.author, *post.id, content).has_value();
    posts_[*index].edits[place].ended = ++moment_;
    posts_[*index].edits[place].acknowledged = acknowledged;
    if (acknowledged) ++tally_["edit"];
  }

  void retract() {
    const auto index = known_post();
    if (!index) return;
    posts_[*index].tried_to_retract = true;
    const Written post = posts_[*index];
    if (!feed().retract(post.author, *post.id)) return;
    posts_[*index].retracted = true;
    ++tally_["retraction"];
  }

  // The numbers of the posts in a user's own partition.
  std::set<std::size_t> stored_for(const UserId& user) {
    std::set<std::size_t> found;
    const auto page =
        database_.query({.table = options_.table,
                         .key_condition = "partition_key = :user",
                         .filter = "attribute_not_exists(retracted)",
                         .values = Values{{":user", options_.user_prefix + user.text}}});
    EXPECT_OK(page);
    if (!page) return found;
    for (const Item& item : page->items) {
      found.insert(std::stoul(*item.at("content").get_if<std::string>()));
    }
    return found;
  }

  void trim() {
    const UserId user = one_of(users_);
    const auto note = [&] {
      for (Written& post : posts_) {
        post.trimmed.insert(user.text);
        post.owed.erase(user.text);
      }
    };
    note();
    const std::set<std::size_t> before = stored_for(user);
    const auto trimmed = feed().trim(user, static_cast<int>(random_() % 3));
    note();
    if (!trimmed) return;
    const std::set<std::size_t> after = stored_for(user);
    for (const std::size_t post : before) {
      if (!after.contains(post)) posts_[post].vanished.insert(user.text);
    }
    if (*trimmed > 0) ++tally_["trim"];
  }

  Relation& relation(const UserId& user, const UserId& author) {
    return relations_[{user.text, author.text}];
  }

  void follow() {
    const UserId user = one_of(users_);
    const UserId author = one_of(authors_);
    if (user == author) return;
    const Relation before = relation(user, author);
    if (elsewhere_) {
      elsewhere_->follows.emplace(author.text, user.text);
    } else {
      const int backfill = chance(3) ? 3 : 0;
      if (backfill > 0) relation(user, author).backfilled = true;
      if (!feed().follow(user, author, backfill)) return;
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

  // Copies are written in parallel: nothing depends on their order any more.
  void deliver_all() {
    for (int i = 0; i < 4; ++i) {
      elapsed_ += 1h;
      FeedOptions parallel = any_options();
      parallel.parallel_writes = 4;
      const auto delivered = Feed(client_, on(i % kHosts, parallel)).deliver_pending();
      EXPECT_OK(delivered);
      EXPECT_TRUE(i < 3 || delivered.value_or(Delivered()).posts == 0);
    }
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
    std::map<UserId, std::set<std::size_t>> stored;
    for (const UserId& user : users_) {
      read[user] = posts_read_by(user);
      stored[user] = stored_for(user);
    }
    for (const UserId& author : authors_) {
      if (!stored_for({"MERGED#" + author.text}).empty()) ++tally_["merged"];
    }
    for (std::size_t i = 0; i < posts_.size(); ++i) {
      const Written& written = posts_[i];
      const std::vector<Post>& truth = read[written.author][i];
      const bool may_be_trimmed = written.trimmed.contains(written.author.text);
      ASSERT_LE(truth.size(), 1U) << "post " << i;
      if (written.acknowledged && !written.tried_to_retract && !may_be_trimmed) {
        EXPECT_EQ(truth.size(), 1U) << "post " << i << " is lost";
      }
      for (const UserId& user : users_) {
        const std::vector<Post>& shown = read[user][i];
        const bool is_owed = written.acknowledged && written.owed.contains(user.text);
        EXPECT_LE(shown.size(), 1U) << user.text << " has post " << i << " twice";
        if (shown.empty()) {
          EXPECT_TRUE(!is_owed || (truth.empty() && written.tried_to_retract))
              << user.text << " lacks post " << i << " of " << written.author.text;
          continue;
        }
        EXPECT_FALSE(written.retracted) << "post " << i << " is back in the feed of " << user.text;
        check_content(i, shown[0].content);
        if (!may_be_trimmed) {
          EXPECT_EQ(shown, truth) << user.text << " has another post " << i;
        }
      }
      for (const std::string& user : written.vanished) {
        const bool backfilled = relation({user}, written.author).backfilled;
        EXPECT_TRUE(backfilled || !stored[{user}].contains(i))
            << "post " << i << " is back in the feed of " << user << ", who trimmed it";
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
  Client& database_;
  FaultyClient client_;
  Tally& tally_;
  std::chrono::nanoseconds elapsed_{0};
  std::vector<std::unique_ptr<HostTime>> hosts_;
  // Otherwise a feed makes them. Their random bits would choose the shards of an outbox.
  const bool gives_ids_ = !chance(4);
  FeedOptions options_;
  std::shared_ptr<Elsewhere> elsewhere_;
  std::vector<Feed> publishers_;  // of each host; they keep the times of their last posts
  std::vector<UserId> authors_{{name_ + "ann"}, {name_ + "bob"}};
  std::vector<UserId> users_{authors_[0],     authors_[1],     {name_ + "eve"},
                             {name_ + "joe"}, {name_ + "kim"}, {name_ + "liv"}};
  std::map<std::pair<std::string, std::string>, Relation> relations_;
  std::vector<Written> posts_;
  std::vector<Actor> actors_;
  int moment_ = 0;
  bool is_quiet_ = false;
};

// Streams of deleted tables stay for a day, so the runs do not share one database.
std::unique_ptr<Bench> new_bench() {
  auto bench = std::make_unique<Bench>("memory");
  for (const FeedLayout layout : {FeedLayout::kOrdered, FeedLayout::kNewestFirst}) {
    const FeedOptions options{.table = layout == FeedLayout::kOrdered ? "Feeds" : "NewestFirst",
                              .layout = layout,
                              .followers_table = layout == FeedLayout::kOrdered ? "Followers" : "",
                              .merge_over = 1};
    for (const auto& table : Feed::table_definitions(options)) bench->create(table);
  }
  return bench;
}

TEST(FeedSimulation, PostsAndRetractionsSurviveLossDelayAndCrashes) {
  const auto [first, runs] = seeds_from_environment("STATOR_RUNS", kRuns);
  std::unique_ptr<Bench> bench;
  Tally tally;
  for (uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE("STATOR_SEED=" + std::to_string(first + run));
    if (run % kRunsADatabase == 0) bench = new_bench();
    World(*bench->home.client, first + run, tally).play();
    if (HasFailure()) return;
  }
  for (const char* event :
       {"lost request", "lost response", "late request", "late repetition", "repetition", "refusal",
        "crash", "pause", "clock jump", "edit", "retraction", "trim", "worker", "put off",
        "failed again", "merged", "post taken over", "shard taken over", "resumed"}) {
    RecordProperty(event, tally[event]);
    EXPECT_TRUE(tally[event] > 0 || runs < kRuns) << event;
  }
}

}  // namespace
}  // namespace stator::test
