/**
 * This process as a borrower: requests that find nothing to spend wait together for one loan, and what is not spent goes
 * back when it is recalled. See `QuotaLease.ts` for the rules.
 */
import { Deferred, Effect, FiberSet, type Scope } from "effect"
import type { Count, Share } from "./Counts.ts"
import type { QuotaLease } from "./QuotaLease.ts"

/** How long to wait for open blocks of others before each further attempt, in milliseconds; then they count as lost. */
const patienceMillis = [2, 5, 10, 20, 40, 80]

/** Shares whose units can be recalled, at most. Beyond it the oldest lapse, which are mostly those of windows gone by. */
const openMax = 20_000

export interface LeaseClient {
  /** Returns when the count's share has changed: there is something to spend, or never will be, or the lender is lost. */
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

    /** Strikes everything off our own figures, then says so. */
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

    /** One loan. `open`: nothing was left, but something may come back. */
    const ask = Effect.fnUntraced(function* (count: Count, share: Share, { needed }: Pending) {
      const { key, local, epoch } = share
      const spent = share.open - share.spendable
      const { requestsMax, windowMillis } = count.limit
      share.open = share.spendable
      share.local = 0
      const loan = yield* (
        lender
          .lend({ key, requestsMax, windowMillis, needed, spent, local, used: count.used, epoch })
          // Whether it has arrived is not known: rather tell it twice than never.
          .pipe(Effect.tapError(() => Effect.sync(() => (share.local += local))))
      )
      if (loan.epoch !== epoch) {
        share.epoch = loan.epoch
        share.open = 0
        share.spendable = 0
      }
      share.left = loan.left
      if (loan.lent === 0) return loan.open === 0 ? "exhausted" : "open"
      share.spendable += loan.lent
      share.open += loan.lent
      open.delete(key)
      if (open.size >= openMax) open.delete(open.keys().next().value!)
      open.set(key, share)
      return "lent"
    })

    const drive = Effect.fnUntraced(function* (count: Count, share: Share, waiting: Pending) {
      // Requests that come in the same turn of the event loop need the same loan.
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
