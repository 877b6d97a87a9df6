/**
 * Tells the members of waitlists that their sequence has opened (completions 3, "Waitlist").
 *
 * Whom to tell is asked of the waitlists themselves, several times a second, where there are any. So nothing is kept here
 * that a restart could lose, and nobody has to say that an opening has come.
 *
 * A member is marked as notified when its message has been delivered, not before: a process that dies in between tells
 * those few a second time whom it was just telling, where the other order would leave them without. A member's email
 * has the same Message-ID each time, so that mail systems can drop the repetition.
 */
import { Clock, Effect, Layer } from "effect"
import { Delivery, senders } from "../delivery/Delivery.ts"
import { opening, type Outgoing } from "../delivery/Message.ts"
import type { Tenant } from "../domain/values/Ids.ts"
import * as Waitlist from "../domain/waitlist/Waitlist.ts"
import { Engine, type QueryAnswer } from "../engine/Engine.ts"
import { NoticeSchedule } from "../engine/lifecycle/NoticeSchedule.ts"
import { type Recipient, Waitlists } from "../store/mechanism/Waitlists.ts"

/** Between looks while a waitlist lives in this process. */
const lookIntervalMillis = 100

/** Between looks while none does: one that comes and opens at once is still in time. */
const idleIntervalMillis = 200

/**
 * For so long after one has answered waitlists are taken to live here, and after all that live here were started: one of
 * which a write is under way does not answer.
 */
const seenMillis = 5_000

/** Members of one waitlist that are looked up at once. */
const membersAtOnce = 100

/** How often it is made sure that each waitlist knows when its sequence opens; unreachable members are tried again. */
const sweepIntervalMillis = 30_000

/** Members that could not be reached lately; at the limit something is out of order, and the next sweep is awaited. */
const unreachableMax = 1_000

/** A member that could not be reached for so long is given up. */
const givenUpAfterMillis = 3_600_000

type Due = QueryAnswer<"waitlist", ReadonlyArray<Waitlist.Awaiting>>

/** The fibers that look after the waitlists, over whatever tells of openings and recipients. */
export const layerNoDeps = Layer.effectDiscard(
  Effect.gen(function* () {
    const engine = yield* Engine
    const schedule = yield* NoticeSchedule
    const waitlists = yield* Waitlists
    const delivery = yield* Delivery

    /** Consumers that could not be reached lately. */
    const unreachable = new Set<string>()
    /** Members that have been told, and are not marked yet. */
    const told = new Set<string>()

    const notify = Effect.fnUntraced(function* (
      waitlist: Due["mechanism"],
      { consumerId, since }: Waitlist.Awaiting,
      recipient: Recipient | undefined
    ) {
      const name = `${waitlist.id}.${consumerId}`
      const message = recipient && messageTo(recipient, waitlist.tenant, name)
      const outcome = told.has(name) ? "delivered" : message ? yield* delivery.deliver(message) : "undeliverable"
      if (outcome === "failed" && (yield* Clock.currentTimeMillis) - since < givenUpAfterMillis) {
        unreachable.add(consumerId)
        return
      }
      if (outcome === "delivered") told.add(name)
      const channel = outcome === "delivered" ? message?.channel : undefined
      yield* engine.send(waitlist, { _tag: "MarkNotified", consumerId, ...(channel !== undefined && { channel }) })
      told.delete(name)
    })

    const notifyAll = Effect.fnUntraced(function* ({ mechanism, answer }: Due) {
      const consumerIds = answer.map(({ consumerId }) => consumerId)
      const recipients = yield* waitlists.recipients(mechanism.tenant, mechanism.id, consumerIds)
      const byId = new Map(recipients.map((recipient) => [recipient.consumerId, recipient]))
      yield* Effect.forEach(answer, (member) => Effect.ignore(notify(mechanism, member, byId.get(member.consumerId))), {
        // No more than are sent at the same time: what is under way is what a crash repeats.
        concurrency: senders,
        discard: true
      })
    })

    let seenAt = -Infinity

    const look = Effect.gen(function* () {
      if (unreachable.size >= unreachableMax) return
      const answers = yield* engine.query("waitlist", (state) => ({
        awaiting: Waitlist.awaitingNotice(state, membersAtOnce, unreachable)
      }))
      if (answers.length > 0 || !(yield* engine.isRestored)) seenAt = yield* Clock.currentTimeMillis
      const due = answers.flatMap(({ mechanism, answer: { awaiting } }) =>
        awaiting === undefined ? [] : [{ mechanism, answer: awaiting }]
      )
      // Who cannot be told, or marked, for now is met again by the next look.
      yield* Effect.forEach(due, (waitlist) => Effect.ignore(notifyAll(waitlist)), { discard: true })
    })

    const pause = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.sleep(now - seenAt < seenMillis ? lookIntervalMillis : idleIntervalMillis)
    )

    const sweep = Effect.suspend(() => {
      unreachable.clear()
      return schedule.rescheduleAll
    })

    yield* Effect.forkScoped(Effect.forever(Effect.andThen(orLogged(look), pause)))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(orLogged(sweep), Effect.sleep(sweepIntervalMillis))))
  })
)

/** The same over the database. */
export const layer = layerNoDeps.pipe(Layer.provide(NoticeSchedule.layer), Layer.provide(Waitlists.layer))

const orLogged = (round: Effect.Effect<void>) =>
  Effect.catchDefect(round, (defect) => Effect.logError("Waitlists could not be looked after", defect))

/** The message to a member, by email before SMS; undefined if it has neither. */
const messageTo = ({ email, phone, experience }: Recipient, tenant: Tenant, id: string): Outgoing | undefined => {
  if (email !== null) return opening({ tenant, id, experience, channel: "email", to: email })
  return phone === null ? undefined : opening({ tenant, id, experience, channel: "phone", to: phone })
}
