// The tree of cached prefixes by itself: what is found, who owns what, what goes first.
#include "engine/cache/prefix_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace orfebre {
namespace {

using Tokens = std::vector<int32_t>;

// A sequence's side of the cache: it has blocks and a slot, adds them and lets go.
struct Bench {
  explicit Bench(int n_blocks = 64, int n_slots = 16, BlockHash hash = xxh3_block_hash)
      : kv(n_blocks), slots(n_slots), cache(kv, slots, hash) {}

  // As a sequence does that has read all of `tokens`, whole blocks; false when it was there already.
  bool add(const Tokens& tokens, int n_turns = 1, uint64_t space = 0) {
    Tokens blocks;
    for (size_t i = 0; i < tokens.size() / kBlockTokens; ++i) {
      blocks.push_back(kv.allocate());
    }
    const int32_t slot = slots.allocate();
    const bool added = cache.add(space, tokens, blocks, slot, n_turns);
    for (const int32_t block : blocks) {
      kv.release(block);
    }
    slots.release(slot);
    return added;
  }

  int usable(const Tokens& tokens, uint64_t space = 0) const {
    return cache.find(space, tokens, static_cast<int>(tokens.size())).n_usable;
  }

  void give_back(const CacheLease& lease) {
    for (const int32_t block : lease.blocks) {
      kv.release(block);
    }
    slots.release(lease.slot);
  }

  KvPool kv;
  StateSlots slots;
  PrefixCache cache;
};

// `n` tokens that start with those of every smaller `n` of the same `story`.
Tokens tell(int story, int n) {
  std::mt19937 random(static_cast<unsigned>(story));
  Tokens tokens(static_cast<size_t>(n));
  for (int32_t& token : tokens) {
    token = static_cast<int32_t>(random() % 1000);
  }
  return tokens;
}

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

uint64_t same_hash(uint64_t, std::span<const int32_t>) {
  return 7;
}

TEST(PrefixCache, FindsTheLongestPrefixThatHasAState) {
  Bench bench;
  bench.add(tell(1, 128));
  bench.add(tell(1, 320));
  EXPECT_EQ(bench.usable(tell(1, 127)), 0);
  EXPECT_EQ(bench.usable(tell(1, 128)), 128);
  EXPECT_EQ(bench.usable(tell(1, 319)), 128);
  EXPECT_EQ(bench.usable(tell(1, 1000)), 320);
  const CacheMatch match = bench.cache.find(0, tell(1, 320), 319);
  EXPECT_EQ(match.n_usable, 128) << "a token must be left";
  EXPECT_EQ(match.n_common, 320);
  EXPECT_EQ(bench.usable(tell(2, 1000)), 0);
}

TEST(PrefixCache, TellsWhereAPromptPartsFromTheNearestCachedOne) {
  Bench bench;
  bench.add(tell(1, 192));
  bench.add(joined(tell(1, 64), tell(2, 64)));
  EXPECT_EQ(bench.cache.find(0, joined(tell(1, 150), tell(3, 50)), 199).n_common, 150);
  EXPECT_EQ(bench.cache.find(0, joined(joined(tell(1, 64), tell(2, 9)), tell(3, 50)), 122).n_common, 73);
  EXPECT_EQ(bench.cache.find(0, tell(1, 10), 9).n_common, 10);
}

TEST(PrefixCache, OneTokenOfDifferenceIsADifference) {
  for (const BlockHash hash : {xxh3_block_hash, same_hash}) {
    Bench bench(64, 16, hash);
    const Tokens tokens = tell(1, 192);
    bench.add(tokens);
    for (const size_t at : {size_t{0}, size_t{63}, size_t{64}, size_t{130}, size_t{191}}) {
      Tokens other = tokens;
      ++other[at];
      EXPECT_EQ(bench.usable(other), 0) << at;
    }
    EXPECT_EQ(bench.usable(tokens), 192);
    bench.add(joined(tell(2, 64), tell(1, 128)));  // the same blocks behind others
    EXPECT_EQ(bench.usable(joined(tell(2, 64), tell(3, 64))), 0);
    EXPECT_EQ(bench.usable(joined(tell(2, 64), tell(1, 128))), 192);
  }
}

TEST(PrefixCache, SpacesAreApart) {
  Bench bench;
  bench.add(tell(1, 128), 1, 5);
  EXPECT_EQ(bench.usable(tell(1, 128), 5), 128);
  EXPECT_EQ(bench.usable(tell(1, 128), 6), 0);
  EXPECT_EQ(bench.cache.find(6, tell(1, 128), 128).n_common, 0);
}

TEST(PrefixCache, CommonBlocksAreKeptOnce) {
  Bench bench;
  bench.add(tell(1, 320));
  EXPECT_EQ(bench.kv.n_total() - bench.kv.n_free(), 5);
  bench.add(joined(tell(1, 256), tell(2, 64)));
  EXPECT_EQ(bench.kv.n_total() - bench.kv.n_free(), 6);
  EXPECT_EQ(bench.cache.n_blocks(), 6);
  EXPECT_FALSE(bench.add(tell(1, 320))) << "it is there already";
  EXPECT_EQ(bench.cache.n_snapshots(), 2);
  bench.cache.clear();
  EXPECT_EQ(bench.kv.n_free(), bench.kv.n_total());
  EXPECT_EQ(bench.slots.n_free(), bench.slots.n_total());
}

TEST(PrefixCache, WhatWasTakenOutlivesTheCache) {
  Bench bench;
  bench.add(tell(1, 192));
  const CacheLease lease = bench.cache.take(bench.cache.find(0, tell(1, 192), 192));
  EXPECT_EQ(lease.blocks.size(), 3u);
  EXPECT_EQ(bench.cache.n_evictable_blocks(), 0);
  EXPECT_EQ(bench.cache.n_evictable_slots(), 0);
  EXPECT_FALSE(bench.cache.evict_for_slot()) << "it would free none";
  bench.cache.clear();
  EXPECT_EQ(bench.kv.n_total() - bench.kv.n_free(), 3);
  EXPECT_EQ(bench.slots.n_total() - bench.slots.n_free(), 1);
  bench.give_back(lease);
  EXPECT_EQ(bench.kv.n_free(), bench.kv.n_total());
  EXPECT_EQ(bench.slots.n_free(), bench.slots.n_total());
}

TEST(PrefixCache, ASnapshotInTheMiddleGoesWithoutItsBlocks) {
  Bench bench;
  bench.add(tell(1, 128), 1);
  bench.add(tell(1, 640), 8);
  EXPECT_TRUE(bench.cache.evict_for_slot());
  EXPECT_EQ(bench.usable(tell(1, 600)), 0);
  EXPECT_EQ(bench.usable(tell(1, 640)), 640);
  EXPECT_EQ(bench.cache.n_blocks(), 10);
}

TEST(PrefixCache, ALeafGoesWithTheBlocksThatOnlyItNeeds) {
  Bench bench;
  bench.add(tell(1, 640));                        // 10 blocks, of which 4 in common with the next
  bench.add(joined(tell(1, 256), tell(2, 128)));  // cheaper
  EXPECT_TRUE(bench.cache.evict_for_block());
  EXPECT_EQ(bench.usable(joined(tell(1, 256), tell(2, 128))), 0);
  EXPECT_EQ(bench.cache.n_blocks(), 10);
  EXPECT_TRUE(bench.cache.evict_for_block());
  EXPECT_EQ(bench.kv.n_free(), bench.kv.n_total());
  EXPECT_FALSE(bench.cache.evict_for_block());
}

TEST(PrefixCache, WhatSavesLittleGoesFirst) {
  Bench bench;
  bench.add(tell(1, 640));
  bench.add(tell(2, 128));
  bench.add(tell(1, 704));  // 64 tokens more than the first
  EXPECT_TRUE(bench.cache.evict_for_slot());
  EXPECT_EQ(bench.usable(tell(1, 704)), 640);
  EXPECT_TRUE(bench.cache.evict_for_slot());
  EXPECT_EQ(bench.usable(tell(2, 128)), 0);
  EXPECT_EQ(bench.usable(tell(1, 704)), 640);
}

TEST(PrefixCache, WhatWasNotUsedForLongGoesEvenIfItSavesMore) {
  Bench bench(2000, 4);
  bench.add(tell(1, 640));
  bench.add(tell(2, 320));
  for (int story = 10; story < 14; ++story) {  // each as dear as the second
    bench.give_back(bench.cache.take(bench.cache.find(0, tell(2, 320), 320)));
    while (bench.slots.n_free() == 0) {
      ASSERT_TRUE(bench.cache.evict_for_slot());
    }
    bench.add(tell(story, 320));
  }
  EXPECT_EQ(bench.usable(tell(1, 640)), 640) << "twice as dear: it stays for a while";
  for (int story = 14; story < 20; ++story) {
    while (bench.slots.n_free() == 0) {
      ASSERT_TRUE(bench.cache.evict_for_slot());
    }
    bench.add(tell(story, 320));
  }
  EXPECT_EQ(bench.usable(tell(1, 640)), 0);
}

TEST(PrefixCache, ALongConversationIsWorthMoreThanAPassingOne) {
  Bench bench;
  bench.add(tell(1, 128), 5);
  bench.add(tell(2, 512), 1);
  EXPECT_FALSE(bench.cache.evict_for_slot(512)) << "nothing is worth less than that";
  EXPECT_TRUE(bench.cache.evict_for_slot(513));
  EXPECT_EQ(bench.usable(tell(1, 128)), 128);
  EXPECT_EQ(bench.usable(tell(2, 512)), 0);
}

TEST(PrefixCache, DropsATailThatNobodyUsedAndNoOther) {
  Bench bench;
  bench.add(tell(1, 128));
  bench.add(tell(1, 192));
  bench.cache.drop_unused(0, tell(1, 256));  // no such snapshot
  EXPECT_EQ(bench.usable(tell(1, 192)), 192);
  bench.give_back(bench.cache.take(bench.cache.find(0, tell(1, 192), 192)));
  bench.cache.drop_unused(0, tell(1, 192));
  EXPECT_EQ(bench.usable(tell(1, 192)), 192) << "somebody started from it";
  bench.cache.drop_unused(0, tell(1, 128));
  EXPECT_EQ(bench.usable(tell(1, 191)), 0);
}

TEST(PrefixCache, DistrustTakesEveryStateOnTheWay) {
  Bench bench;
  bench.add(tell(1, 64));
  bench.add(tell(1, 256));
  bench.add(joined(tell(1, 128), tell(2, 64)));
  bench.cache.distrust(0, tell(1, 300));
  EXPECT_EQ(bench.usable(tell(1, 300)), 0);
  EXPECT_EQ(bench.usable(joined(tell(1, 128), tell(2, 64))), 192);
  EXPECT_EQ(bench.cache.n_blocks(), 3);
}

// Random life against a list of what was added and evicted: what is found spells the prompt, the blocks and
// the slot are those that were added, and eviction frees what was promised.
TEST(PrefixCache, KeepsItsPromisesInARandomLife) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Bench bench(48, 8, below(2) == 0 ? same_hash : xxh3_block_hash);
    std::map<int32_t, Tokens> slot_story;   // slot -> space, tokens that its state is after
    std::map<int32_t, Tokens> block_story;  // block -> space, tokens up to its end
    std::vector<CacheLease> leases;
    for (int i = 0; i < 300; ++i) {
      Tokens tokens;
      for (int b = 1 + below(5); b > 0; --b) {
        tokens = joined(tokens, tell(below(3), kBlockTokens));
      }
      const auto space = static_cast<uint64_t>(below(2));
      const auto keyed = [&](size_t n) {
        return joined({static_cast<int32_t>(space)},
                      Tokens(tokens.begin(), tokens.begin() + static_cast<long>(n)));
      };
      const int n_blocks = static_cast<int>(tokens.size()) / kBlockTokens;
      const int action = below(4);
      if (action <= 1 && bench.kv.n_free() >= n_blocks && bench.slots.n_free() > 0) {
        Tokens blocks;
        for (int b = 0; b < n_blocks; ++b) {
          blocks.push_back(bench.kv.allocate());
          block_story[blocks.back()] = keyed(static_cast<size_t>(b + 1) * kBlockTokens);
        }
        const int32_t slot = bench.slots.allocate();
        slot_story[slot] = keyed(tokens.size());
        bench.cache.add(space, tokens, blocks, slot, 1 + below(4));
        leases.push_back({blocks, slot, 0});
      } else if (action == 2) {
        const CacheMatch match = bench.cache.find(space, tokens, static_cast<int>(tokens.size()) - below(64));
        if (match.n_usable > 0) {
          leases.push_back(bench.cache.take(match));
          ASSERT_EQ(slot_story[leases.back().slot], keyed(static_cast<size_t>(match.n_usable)));
          for (size_t b = 0; b < leases.back().blocks.size(); ++b) {
            ASSERT_EQ(block_story[leases.back().blocks[b]], keyed((b + 1) * kBlockTokens));
          }
        }
      } else if (below(2) == 0) {
        const int promised = bench.cache.n_evictable_slots();
        const int free = bench.slots.n_free();
        ASSERT_EQ(bench.cache.evict_for_slot(), promised > 0);
        ASSERT_EQ(bench.slots.n_free(), free + (promised > 0 ? 1 : 0));
      } else if (below(8) == 0) {
        const int promised = bench.cache.n_evictable_blocks() + bench.kv.n_free();
        while (bench.cache.n_evictable_blocks() > 0) {
          ASSERT_TRUE(bench.cache.evict_for_block());
        }
        ASSERT_EQ(bench.kv.n_free(), promised);
      }
      while (!leases.empty() && below(3) > 0) {
        bench.give_back(leases.back());
        leases.pop_back();
      }
    }
    for (const CacheLease& lease : leases) {
      bench.give_back(lease);
    }
    ASSERT_EQ(bench.kv.n_free() + bench.cache.n_blocks(), bench.kv.n_total());
    ASSERT_EQ(bench.slots.n_free() + bench.cache.n_snapshots(), bench.slots.n_total());
    bench.cache.clear();
    ASSERT_EQ(bench.kv.n_free(), bench.kv.n_total());
    ASSERT_EQ(bench.slots.n_free(), bench.slots.n_total());
  }
}

}  // namespace
}  // namespace orfebre
