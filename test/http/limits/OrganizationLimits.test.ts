import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { TestClock } from "effect/testing"
import type { RateLimits as Numbers } from "../../../src/domain/organization/Plan.ts"
import type { Category } from "../../../src/api/Annotations.ts"
import type { LimitStatus } from "../../../src/http/limits/LimitStatus.ts"
import { firstRequestsMax, furtherAddresses } from "../../../src/http/limits/OrganizationLimits.ts"
import { make, type RateLimits } from "../../../src/http/limits/RateLimits.ts"
import { Settings } from "../../../src/settings/Settings.ts"

const minute = 60_000
const start = 29_921_013 * minute

/** Sends one request of an address. */
const ask = (limits: RateLimits["Service"], category: Category, rateLimits: Numbers) => {
  const limit = limits.ofOperation("consumer", category)
  return (address: string): LimitStatus =>
    limit.pass({ organizationId: "an organization", rateLimits, address: () => address }) as LimitStatus
}

const hasPassed = ({ retryAfterSeconds }: LimitStatus): boolean => retryAfterSeconds === undefined

interface Asked {
  readonly at: number
  readonly address: string
  readonly passed: "figure" | "reserve" | undefined
  readonly isFirst: boolean
}

/**
 * The rules of a limit, read off the whole history for each request. `windowMillis` is a minute, so that accounts end
 * with their window.
 */
const naive = (requestsMax: number, share: number) => {
  const generous = Math.max(1, Math.floor(requestsMax * share))
  const history: Array<Asked> = []
  const windowOf = (at: number) => Math.floor(at / minute)
  const inWindow = (window: number) => history.filter(({ at }) => windowOf(at) === window)

  /** The addresses that are remembered: a request passed in the window, or the address was remembered before. */
  const remembered = (window: number): ReadonlySet<string> => {
    const asked = inWindow(window)
    if (asked.length === 0) return new Set()
    const before = remembered(window - 1)
    return new Set(asked.filter(({ address, passed }) => passed || before.has(address)).map(({ address }) => address))
  }

  /**
   * Returns how often each remembered address has asked, and what all addresses ask for together if none asks for more
   * than `most`.
   */
  const demand = (until: ReadonlyArray<Asked>, before: ReadonlySet<string>) => {
    const numbers = new Map<string, number>()
    let unknown = 0
    for (const each of until) {
      const knownSoFar =
        before.has(each.address) ||
        until.slice(0, until.indexOf(each) + 1).some((one) => one.passed && one.address === each.address)
      if (knownSoFar) numbers.set(each.address, (numbers.get(each.address) ?? 0) + 1)
      else unknown++
    }
    const together = (most: number) =>
      [...numbers.values()].reduce((sum, number) => sum + Math.min(number, most), unknown)
    return { numbers, together }
  }

  /** True if the address was refused beyond the fair share at some instant of the window. */
  const pressed = (address: string, window: number): boolean => {
    const asked = inWindow(window)
    const before = remembered(window - 1)
    return asked.some((request, index) => {
      if (request.address !== address || request.passed !== undefined) return false
      const { numbers, together } = demand(asked.slice(0, index + 1), before)
      const own = numbers.get(address) ?? 0
      let fair = Infinity
      for (let most = 1; most <= 2 ** 20; most *= 2) {
        if (together(most) > requestsMax) {
          fair = Math.floor(most / 2)
          break
        }
      }
      return own > firstRequestsMax && own > fair
    })
  }

  return (at: number, address: string): boolean => {
    const now = inWindow(windowOf(at))
    const count = (holds: (request: Asked) => boolean) => now.filter(holds).length
    const firsts = count(({ isFirst, passed }) => isFirst && passed !== undefined)
    const own = count((request) => request.address === address && request.passed !== undefined)
    const free = requestsMax - firsts
    const few = free <= 0 ? 0 : Math.min(firstRequestsMax, Math.max(1, Math.floor(free / furtherAddresses)))
    const isFigureFull = count((request) => request.passed === "figure") >= requestsMax
    const { numbers, together } = demand(now, remembered(windowOf(at) - 1))
    const rank = (numbers.get(address) ?? 0) + 1
    const left = Math.floor((requestsMax - generous) / 2) - count((request) => request.passed === "reserve")
    const isFurther = isFigureFull && rank * 10 <= left && together(2 ** Math.ceil(Math.log2(rank))) + 1 <= requestsMax
    const isFirst =
      requestsMax > generous &&
      !pressed(address, windowOf(at) - 1) &&
      (own + 1 <= Math.max(generous - firsts, few) || isFurther)
    const passed = !isFigureFull
      ? "figure"
      : isFirst && firsts < requestsMax && count((request) => request.passed === "reserve") < requestsMax - generous
        ? "reserve"
        : undefined
    history.push({ at, address, passed, isFirst })
    return passed !== undefined
  }
}

const settings = Settings.layerTest()

describe("Limits of an organization whose addresses press", () => {
  for (const requestsMax of [1, 2, 3, 5, 10, 40, 130, 400]) {
    it.effect(`pass the same requests of ${requestsMax} as the rules do over the whole history`, () =>
      Effect.gen(function* () {
        for (let history = 0; history < 12; history++) {
          yield* TestClock.setTime(start)
          const limits = yield* make()
          const request = ask(limits, "otpRequest", { otpRequestsPerMinute: requestsMax })
          const reference = naive(requestsMax, 0.2)
          const addresses = yield* Random.nextIntBetween(1, 9)
          const requests = requestsMax * (yield* Random.nextIntBetween(2, 5)) + 10
          const step = (4 * minute) / requests
          let at = start
          let window = { number: 0, passed: 0 }
          for (let index = 0; index < requests; index++) {
            at += Math.floor((yield* Random.next) * 2 * step)
            yield* TestClock.setTime(at)
            // Low addresses ask more often.
            const address = `${Math.floor((yield* Random.next) ** 2 * addresses)}`
            const passed = hasPassed(request(address))
            assert.strictEqual(passed, reference(at, address), `history ${history}, request ${index}`)
            const number = Math.floor(at / minute)
            if (number !== window.number) window = { number, passed: 0 }
            if (window.passed < requestsMax) assert.isTrue(passed, "the figure itself is open to all")
            if (passed) window.passed++
            assert.isAtMost(window.passed, requestsMax + Math.max(0, requestsMax - Math.max(1, requestsMax / 5)))
          }
        }
      }).pipe(Effect.provide(settings), Random.withSeed(`${requestsMax}`))
    )
  }

  /** Pressing addresses that begin with the minute, and shoppers at any instant of it. Returns what passed. */
  const crowd = Effect.fnUntraced(function* (options: {
    readonly pressing: number
    readonly perSecond: number
    readonly category: Category
    readonly rateLimits: Numbers
    readonly shoppers: number
    readonly minutes: number
  }) {
    yield* TestClock.setTime(start)
    const request = ask(yield* make(), options.category, options.rateLimits)
    const minutes: Array<{ passed: number; asked: number; total: number }> = []
    for (let number = 0; number < options.minutes; number++) {
      const requests: Array<readonly [number, string, boolean]> = []
      for (let address = 0; address < options.pressing; address++)
        for (let index = 0; index < options.perSecond * 60; index++)
          requests.push([(index * 1_000) / options.perSecond, `presses ${address}`, false])
      for (let shopper = 0; shopper < options.shoppers; shopper++) {
        const visits = 1 + Math.floor((yield* Random.next) * 3)
        for (let visit = 0; visit < visits; visit++)
          requests.push([(yield* Random.next) * (minute - 1), `shopper ${number} ${shopper}`, true])
      }
      requests.sort(([one], [other]) => one - other)
      const minuteOf = { passed: 0, asked: 0, total: 0 }
      for (const [offset, address, isShopper] of requests) {
        yield* TestClock.setTime(start + number * minute + Math.floor(offset))
        const passed = hasPassed(request(address))
        if (passed) minuteOf.total++
        if (isShopper) minuteOf.asked++
        if (isShopper && passed) minuteOf.passed++
      }
      minutes.push(minuteOf)
    }
    return minutes
  })

  const general = { consumerApiPerMinute: 5_000 }
  const entries = { queueEntriesPerMinute: 1_000 }
  for (const [pressing, perSecond, category, rateLimits, figure] of [
    [5, 17, "general", general, 5_000],
    [50, 5, "general", general, 5_000],
    [500, 1, "general", general, 5_000],
    [5, 17, "queueEntry", entries, 1_000],
    [50, 5, "queueEntry", entries, 1_000],
    [500, 1, "queueEntry", entries, 1_000]
  ] as const) {
    it.effect(`let 100 shoppers in while ${pressing} addresses press for ${figure} requests`, () =>
      Effect.gen(function* () {
        const minutes = yield* crowd({ pressing, perSecond, category, rateLimits, shoppers: 100, minutes: 3 })
        if (process.env["LIMITS_FIGURES"] !== undefined) console.log(pressing, figure, JSON.stringify(minutes))
        for (const { total } of minutes) assert.isAtMost(total, figure * 1.8)
        for (const [number, { passed, asked }] of minutes.entries()) {
          // Nobody can tell the first minute of 500 new addresses from a crowd that is larger than the limit.
          if (number > 0 || pressing * firstRequestsMax < figure * 0.6)
            assert.isAtLeast(passed / asked, 0.95, `minute ${number}`)
        }
      }).pipe(Effect.provide(settings), Random.withSeed("crowd"))
    )
  }

  it.effect("leave codes to others while five addresses take ten a minute", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const request = ask(yield* make(), "otpRequest", { otpRequestsPerMinute: 10 })
      const passed = (address: string, requests: number) =>
        Array.from({ length: requests }, () => request(address)).filter(hasPassed).length
      const five = ["a", "b", "c", "d", "e"]
      const taken = five.map((address) => passed(address, 10))
      assert.deepStrictEqual(taken, [10, 1, 1, 1, 1])
      const shoppers = (name: string) =>
        Array.from({ length: 10 }, (_, index) => passed(`${name} ${index}`, 1)).reduce((sum, count) => sum + count, 0)
      assert.strictEqual(shoppers("first minute"), 4)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(
        five.map((address) => passed(address, 10)),
        [10, 0, 0, 0, 0]
      )
      assert.strictEqual(shoppers("second minute"), 8)
    }).pipe(Effect.provide(settings))
  )

  it.effect("take an address that stopped pressing for a minute for an ordinary one again", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const limits = yield* make()
      const request = ask(limits, "otpRequest", { otpRequestsPerMinute: 10 })
      const passed = (address: string, requests: number) =>
        Array.from({ length: requests }, () => request(address)).filter(hasPassed).length
      assert.deepStrictEqual([passed("a", 30), passed("b", 30)], [10, 1])
      const pressing = () => ["a", "b", "c"].map((address) => limits.presses("an organization", address))
      assert.deepStrictEqual(pressing(), [true, true, false])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([passed("a", 30), passed("b", 1)], [10, 0])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([passed("a", 30), passed("b", 1)], [10, 1])
      assert.deepStrictEqual(pressing(), [true, false, false])
    }).pipe(Effect.provide(settings))
  )

  it.effect("show an address of the reserve the requests that it has left, one by one", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const request = ask(yield* make(), "general", general)
      for (let index = 0; index < 5_000; index++) assert.isTrue(hasPassed(request("a")))
      assert.isFalse(hasPassed(request("a")))
      const seen = Array.from({ length: 251 }, () => request("b"))
      assert.deepStrictEqual(
        seen.map(({ remaining }) => remaining),
        [...Array.from({ length: 250 }, (_, index) => 249 - index), 0]
      )
      assert.deepStrictEqual(seen.map(hasPassed).indexOf(false), 250)
    }).pipe(Effect.provide(settings))
  )

  it.effect("count a request with a large answer for more, never beyond the figure", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const limits = yield* make()
      const limit = limits.ofOperation("consumer", "general")
      const caller = { organizationId: "a", rateLimits: { consumerApiPerMinute: 20 }, address: () => "a" }
      assert.strictEqual((limit.pass(caller) as LimitStatus).remaining, 19)
      assert.strictEqual(limit.charge(caller, 7).remaining, 12)
      assert.strictEqual((limit.pass(caller) as LimitStatus).remaining, 11)
      assert.strictEqual(limit.charge(caller, 70).remaining, 0)
      assert.isFalse(hasPassed(limit.pass(caller) as LimitStatus))
      assert.isTrue(hasPassed(limit.pass({ ...caller, address: () => "b" }) as LimitStatus))
    }).pipe(Effect.provide(settings))
  )
})
