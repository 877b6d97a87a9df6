/**
 * Notifies the members of waitlists that their sequence has opened.
 *
 * The engine signals when a waitlist has members to notify, and the worker then queries the waitlists. It stores nothing
 * that a restart could lose.
 *
 * A member is marked as notified after its message was delivered, not before. If a process dies in between, those few
 * members are notified twice; in the other order they would not be notified at all. A member's email has the same
 * Message-ID each time, so mail systems can drop the duplicate.
 */
import { Effect, Layer } from "effect"
import { Delivery, senders } from "../delivery/Delivery.ts"
import { opening, type OutgoingMessage } from "../delivery/Message.ts"
import type { Tenant } from "../domain/values/Ids.ts"
import * as Waitlist from "../domain/waitlist/Waitlist.ts"
import { Engine, type QueryAnswer } from "../engine/Engine.ts"
import { NoticeSchedule } from "../engine/lifecycle/NoticeSchedule.ts"
import { type Recipient, Waitlists } from "../store/mechanism/Waitlists.ts"
import { inTimeOf, TestClocks } from "../store/testClock/TestClocks.ts"
import { start, wakeUpFor } from "./WorkerLoop.ts"
import * as Time from "../store/coordination/Time.ts"

/** Pause between polls while members are to be notified. */
const pollIntervalMillis = 100

/** Longest pause between polls otherwise. The engine ends it when a waitlist has members to notify. */
const idleIntervalMillis = 1_000

/** Members of one waitlist looked up at the same time. */
const membersAtOnce = 100

/** How often every waitlist's opening is scheduled again. Unreachable members are then retried. */
const sweepIntervalMillis = 30_000

/** Members that could not be reached lately. At the limit, something is broken and polls pause until the next sweep. */
const unreachableMax = 1_000

/** After this time an unreachable member is given up. */
const givenUpAfterMillis = 3_600_000

type Due = QueryAnswer<"waitlist", ReadonlyArray<Waitlist.Awaiting>>

/** Starts the fibers for the waitlists. Needs `NoticeSchedule` and `Waitlists`. */
export const layerNoDeps = Layer.effectDiscard(
  Effect.gen(function* () {
    const engine = yield* Engine
    const schedule = yield* NoticeSchedule
    const waitlists = yield* Waitlists
    const delivery = yield* Delivery
    const clocks = yield* TestClocks

    /** Consumers that could not be reached since the last sweep. */
    const unreachable = new Set<string>()
    /** Members whose message was delivered but who are not yet marked. */
    const delivered = new Set<string>()

    const notify = Effect.fnUntraced(function* (
      waitlist: Due["mechanism"],
      { consumerId, since }: Waitlist.Awaiting,
      recipient: Recipient | undefined
    ) {
      const name = `${waitlist.id}.${consumerId}`
      const message = recipient && messageTo(recipient, waitlist.tenant, name)
      const outcome = delivered.has(name) ? "delivered" : message ? yield* delivery.deliver(message) : "undeliverable"
      if (outcome === "failed" && (yield* Time.now) - since < givenUpAfterMillis) {
        unreachable.add(consumerId)
        return
      }
      if (outcome === "delivered") delivered.add(name)
      const channel = outcome === "delivered" ? message?.channel : undefined
      yield* engine.send(waitlist, { _tag: "MarkNotified", consumerId, ...(channel !== undefined && { channel }) })
      delivered.delete(name)
    })

    const notifyAll = Effect.fnUntraced(function* ({ mechanism, answer }: Due) {
      const consumerIds = answer.map(({ consumerId }) => consumerId)
      const recipients = yield* waitlists.recipients(mechanism.tenant, mechanism.id, consumerIds)
      const byId = new Map(recipients.map((recipient) => [recipient.consumerId, recipient]))
      yield* Effect.forEach(answer, (member) => Effect.ignore(notify(mechanism, member, byId.get(member.consumerId))), {
        // Limited to the number of senders: messages in progress are repeated after a crash. With a test clock nothing is
        // sent, and the journal does not depend on which message is kept first.
        concurrency: clocks.of(mechanism.tenant) === undefined ? senders : 1,
        discard: true
      })
    })

    const poll = Effect.gen(function* () {
      if (unreachable.size >= unreachableMax) return false
      const due = yield* engine.query("waitlist", (state) => Waitlist.awaitingNotice(state, membersAtOnce, unreachable))
      // A failure is ignored: the next poll returns the same members.
      yield* Effect.forEach(
        due,
        (waitlist) => Effect.ignore(inTimeOf(clocks, waitlist.mechanism.tenant)(notifyAll(waitlist))),
        { discard: true }
      )
      return due.length > 0
    })

    const wakeUp = yield* wakeUpFor("waitlist")
    const sweep = Effect.suspend(() => {
      unreachable.clear()
      wakeUp.openUnsafe()
      return schedule.rescheduleAll
    })
    const failureMessage = "Waitlists could not be polled"
    yield* start({
      round: poll,
      pauseMillis: idleIntervalMillis,
      spacingMillis: pollIntervalMillis,
      wakeUp,
      failureMessage
    })
    yield* start({ round: sweep, pauseMillis: sweepIntervalMillis, failureMessage })
  })
)

/** The worker with its database services. */
export const layer = layerNoDeps.pipe(Layer.provide(NoticeSchedule.layer), Layer.provide(Waitlists.layer))

/** Returns the message to a member, by email before SMS. Undefined if it has neither address. */
const messageTo = ({ email, phone, ...about }: Recipient, tenant: Tenant, id: string): OutgoingMessage | undefined => {
  if (email !== null) return opening({ ...about, tenant, id, channel: "email", to: email })
  return phone === null ? undefined : opening({ ...about, tenant, id, channel: "phone", to: phone })
}
