import { assert, describe, it } from "@effect/vitest"
import {
  declarations,
  deciders,
  deniableKinds,
  fieldOf,
  grantingKinds,
  grantsOnEntry,
  isKind,
  isSingle,
  kindNames,
  kinds,
  lateGrantKinds,
  orderableKinds,
  selectingKinds
} from "../../../src/domain/mechanism/Mechanism.ts"
import type { AnyDecider } from "../../../src/engine/actor/Batch.ts"

describe("every kind of mechanism", () => {
  it("begins without places, due events or wake-ups", () => {
    for (const decider of Object.values<AnyDecider>(deciders)) {
      const state = decider.initial()
      assert.isUndefined(decider.due(state, { now: Number.MAX_SAFE_INTEGER, entropy: () => "00".repeat(16), level: 1 }))
      assert.isUndefined(decider.wakeAt(state))
      assert.isUndefined(decider.place(state, "anyone"))
    }
  })
})

describe("the lists of kinds", () => {
  it("follow from what the kinds declare", () => {
    const known = ["queue", "draw", "auction", "appointment", "timed_release", "waitlist"]
    const among = (list: ReadonlyArray<string>) => known.filter((kind) => list.includes(kind))
    const granting = ["queue", "draw", "auction", "timed_release", "waitlist"]
    assert.deepStrictEqual(among(grantingKinds), granting)
    assert.deepStrictEqual(among(deniableKinds), granting)
    assert.deepStrictEqual(among(lateGrantKinds), ["queue", "draw", "auction", "waitlist"])
    assert.deepStrictEqual(among(orderableKinds), known)
    assert.deepStrictEqual(among(selectingKinds), ["timed_release"])
    assert.deepStrictEqual(among(kinds.filter(grantsOnEntry)), ["timed_release"])
    assert.deepStrictEqual(among(kinds.filter(isSingle)), ["waitlist"])
  })

  it("name a kind in words, and the field of a sequence that holds it", () => {
    assert.deepInclude(kindNames, { queue: "Queue", timed_release: "Timed release" })
    assert.deepInclude(fieldOf, { timed_release: "timedReleases", waitlist: "waitlist" })
  })

  it("contain no other name", () => {
    assert.isTrue(isKind("timed_release"))
    for (const name of ["timed-release", "toString", ""]) assert.isFalse(isKind(name))
  })

  it("have names of their own for each kind", () => {
    for (const part of ["name", "noun", "path", "group", "parameter"] as const) {
      assert.lengthOf(new Set(kinds.map((kind) => declarations[kind][part])), kinds.length)
    }
  })
})
