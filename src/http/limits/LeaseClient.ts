/**
 * The client of a quota lease. Requests without units to spend wait together for one loan, and unspent units go back
 * when they are recalled. `QuotaLease.ts` has the rules.
 */
import { Deferred, Effect, FiberSet, type Scope } from "effect"
import type { Count, Share } from "./Counts.ts"
import type { QuotaLease } from "./QuotaLease.ts"

/**
 * Milliseconds to wait for open blocks of other processes before each further attempt. After the last one the blocks
 * count as lost.
 */
const patienceMillis = [2, 5, 10, 20, 40, 80]

/** Shares whose units can be recalled. Beyond it the oldest are dropped; most of them belong to past windows. */
const openMax = 20_000

export interface LeaseClient {
  /**
   * Returns when the count's share has changed: it has units to spend, it will never have any, or the lender is
   * unavailable.
   */
  borrow(count: Count): Effect.Effect<void>
}

interface Pending {
  needed: number
  readonly done: Deferred.Deferred<void>
}

export const make = (lender: QuotaLease): Effect.Effect<LeaseClient, never, Scope.Scope> =>
  Effect.gen(function* () {
    const run = yield* FiberSet.makeRuntime<never>()
    /** Loans under way, by share. */
    const pending = new Map<Share, Pending>()
    /** Shares with open units, by key, the oldest first. */
    const open = new Map<string, Share>()

    /** Removes the units from this process's figures first, then returns them to the lender. */
    const settle = (key: string) => {
      const share = open.get(key)
      if (share === undefined) return
      open.delete(key)
      const { spendable: unspent, open: closed, epoch } = share
      share.spendable = 0
      share.open = 0
      if (closed > 0) run(Effect.ignore(lender.giveBack({ key, epoch, closed, unspent })))
    }
    lender.onRecall(settle)

    const ask = makeAsk(lender, open)

    const drive = Effect.fnUntraced(function* (count: Count, share: Share, waiting: Pending) {
      // Requests in the same turn of the event loop share one loan.
      yield* Effect.yieldNow
      for (const millis of patienceMillis) {
        const outcome = yield* ask(count, share, waiting)
        if (outcome === "lent" || count.share !== share) return
        if (outcome === "exhausted") break
        yield* Effect.sleep(millis)
      }
      share.isExhausted = true
    })

    return {
      borrow: (count) =>
        Effect.suspend(() => {
          const share = count.shared()
          const waiting = pending.get(share) ?? { needed: 0, done: Deferred.makeUnsafe<void>() }
          waiting.needed++
          if (waiting.needed === 1) {
            pending.set(share, waiting)
            run(
              drive(count, share, waiting).pipe(
                Effect.ignore,
                Effect.ensuring(
                  Effect.suspend(() => {
                    pending.delete(share)
                    return Deferred.succeed(waiting.done, undefined)
                  })
                )
              )
            )
          }
          return Deferred.await(waiting.done)
        })
    }
  })

/** Makes the function that asks for one loan. It returns `open` if nothing was left but units may come back. */
const makeAsk = (lender: QuotaLease, open: Map<string, Share>) =>
  Effect.fnUntraced(function* (count: Count, share: Share, { needed }: Pending) {
    const { key, local: alone, epoch } = share
    const spent = share.open - share.spendable
    const { requestsMax, windowMillis } = count.limit
    share.open = share.spendable
    share.local = 0
    const loan = yield* (
      lender
        .lend({ key, requestsMax, windowMillis, needed, spent, local: alone, used: count.used, epoch })
        // The lender may or may not have received it. Counting it twice is safe, never counting it is not.
        .pipe(Effect.tapError(() => Effect.sync(() => (share.local += alone))))
    )
    if (loan.epoch !== epoch) {
      share.epoch = loan.epoch
      share.open = 0
      share.spendable = 0
    }
    share.left = loan.left
    share.elsewhere = Math.max(0, requestsMax - loan.left - loan.lent - loan.open - count.used)
    if (loan.lent === 0) return loan.open === 0 ? "exhausted" : "open"
    share.spendable += loan.lent
    share.open += loan.lent
    open.delete(key)
    if (open.size >= openMax) open.delete(open.keys().next().value!)
    open.set(key, share)
    return "lent"
  })
