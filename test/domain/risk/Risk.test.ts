/** The risk of an entry: what each signal adds, and the properties of the sum. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import {
  accountAgeMillisFull,
  addressEntriesFree,
  addressEntriesFull,
  assess,
  challengeMillisLeast,
  networkEntriesFree,
  networkEntriesFull,
  partMax,
  Risk,
  type Signals
} from "../../../src/domain/risk/Risk.ts"

/** An entry that nothing makes suspicious. */
const calm: Signals = { addressEntries: 0, networkEntries: 0, accountAgeMillis: 86_400_000 }

const anyNumber = (maximum: number) =>
  Arbitrary.schema(Schema.Finite.check(Schema.isBetween({ minimum: -maximum / 10, maximum })))

const anySignals = Arbitrary.map(
  Arbitrary.all({
    addressEntries: anyNumber(60),
    networkEntries: anyNumber(400),
    millis: anyNumber(2_000),
    work: Arbitrary.schema(Schema.Literals([0, 3_000, 24_000, 768_000])),
    accountAgeMillis: anyNumber(60_000)
  }),
  ({ millis, work, ...signals }): Signals => (work === 0 ? signals : { ...signals, challenge: { millis, work } })
)

const scoreOf = (signals: Signals): number => assess(signals)?.score ?? 0

describe("The risk of an entry", () => {
  it("is not recorded for a household with old accounts", () => {
    assert.isUndefined(assess({ ...calm, addressEntries: addressEntriesFree, networkEntries: networkEntriesFree }))
  })

  it("is as great as the sum of its parts", () => {
    const all: Signals = {
      addressEntries: addressEntriesFull,
      networkEntries: networkEntriesFull,
      challenge: { millis: 0, work: 3_000 },
      accountAgeMillis: 0
    }
    assert.deepStrictEqual(assess(all), {
      score: 1,
      reasons: ["SHARED_ADDRESS", "SHARED_NETWORK", "FAST_CHALLENGE", "NEW_ACCOUNT"]
    })
    assert.strictEqual(
      Object.values(partMax).reduce((sum, part) => sum + part, 0),
      100
    )
  })

  it("grows with the consumers of the address, and is 0.4 at most for it alone", () => {
    assert.deepStrictEqual(assess({ ...calm, addressEntries: addressEntriesFree + 2.7 }), {
      score: 0.04,
      reasons: ["SHARED_ADDRESS"]
    })
    assert.strictEqual(scoreOf({ ...calm, addressEntries: 1_000_000 }), 0.4)
  })

  it("grows with the consumers of the network, and is 0.2 at most for it alone", () => {
    assert.deepStrictEqual(assess({ ...calm, networkEntries: 110 }), { score: 0.1, reasons: ["SHARED_NETWORK"] })
    assert.strictEqual(scoreOf({ ...calm, networkEntries: 1_000_000 }), 0.2)
  })

  it("names a challenge that was solved faster than any browser can", () => {
    const fast = (millis: number, work: number) => assess({ ...calm, challenge: { millis, work } })
    assert.deepStrictEqual(fast(1, 3_000), { score: 0.2, reasons: ["FAST_CHALLENGE"] })
    assert.isUndefined(fast(challengeMillisLeast, 3_000))
    assert.deepStrictEqual(fast(192, 768_000), { score: 0.1, reasons: ["FAST_CHALLENGE"] })
    assert.isUndefined(fast(384, 768_000))
  })

  it("names an account that is a second old", () => {
    assert.deepStrictEqual(assess({ ...calm, accountAgeMillis: 0 }), { score: 0.2, reasons: ["NEW_ACCOUNT"] })
    assert.deepStrictEqual(assess({ ...calm, accountAgeMillis: 1_500 }), { score: 0.1, reasons: ["NEW_ACCOUNT"] })
    assert.isUndefined(assess({ ...calm, accountAgeMillis: accountAgeMillisFull }))
  })

  it.prop(
    "is from 0 to 1 in hundredths, with a reason for every part and none without",
    { signals: anySignals },
    ({ signals }) => {
      const risk = assess(signals)
      if (risk === undefined) return
      assert.isTrue(Schema.is(Risk)(risk))
      assert.strictEqual(Math.round(risk.score * 100) / 100, risk.score)
      const most = risk.reasons.reduce((sum, reason) => sum + partMax[reason], 0)
      assert.isAtLeast(risk.score * 100, risk.reasons.length - 1e-9)
      assert.isAtMost(risk.score * 100, most + 1e-9)
      assert.strictEqual(
        risk.reasons.includes("SHARED_ADDRESS"),
        scoreOf({ ...calm, addressEntries: signals.addressEntries }) > 0
      )
      assert.strictEqual(
        risk.reasons.includes("SHARED_NETWORK"),
        scoreOf({ ...calm, networkEntries: signals.networkEntries }) > 0
      )
      assert.strictEqual(
        risk.reasons.includes("FAST_CHALLENGE"),
        scoreOf({ ...calm, challenge: signals.challenge }) > 0
      )
      assert.strictEqual(
        risk.reasons.includes("NEW_ACCOUNT"),
        scoreOf({ ...calm, accountAgeMillis: signals.accountAgeMillis }) > 0
      )
    },
    { arbitrary: { runs: 2_000 } }
  )

  it.prop(
    "never becomes less if a signal becomes more",
    { signals: anySignals, more: anyNumber(50) },
    ({ signals, more }) => {
      const by = Math.abs(more)
      const { challenge } = signals
      const score = scoreOf(signals)
      assert.isAtLeast(scoreOf({ ...signals, addressEntries: signals.addressEntries + by }), score)
      assert.isAtLeast(scoreOf({ ...signals, networkEntries: signals.networkEntries + by }), score)
      assert.isAtLeast(scoreOf({ ...signals, accountAgeMillis: signals.accountAgeMillis - by }), score)
      if (challenge === undefined) return
      assert.isAtLeast(scoreOf({ ...signals, challenge: { ...challenge, millis: challenge.millis - by } }), score)
      assert.isAtLeast(score, scoreOf({ ...signals, challenge: undefined }))
    },
    { arbitrary: { runs: 2_000 } }
  )
})
