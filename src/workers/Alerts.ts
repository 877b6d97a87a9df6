/**
 * Sends the emails that consumers have asked for (`store/message/Alerts.ts`). The database tells which are due, so a
 * restart loses none. A process that dies between an email and its record sends that one again, with the same id.
 */
import { Effect, Layer } from "effect"
import { AlertTokens } from "../auth/tokens/AlertTokens.ts"
import { alertMessage } from "../delivery/AlertMessage.ts"
import { Delivery, senders } from "../delivery/Delivery.ts"
import { publicBaseOf, Settings } from "../settings/Settings.ts"
import { Leases } from "../store/coordination/Leases.ts"
import { Alerts, type DueAlert } from "../store/message/Alerts.ts"
import { inTimeOf, TestClocks } from "../store/testClock/TestClocks.ts"
import { makePace, MessagesOwed, retryRecording } from "./Outbox.ts"
import { makeWithLease, orElseLogged, start } from "./WorkerLoop.ts"
import * as Time from "../store/coordination/Time.ts"

/** Pause between polls when nothing is due. */
const pollMillis = 5_000

/** Emails in progress at the same time: half of the senders, so that one-time codes find a free one. */
const emailsAtOnce = senders / 2

const failureMessage = "Emails that consumers asked for could not be sent for now"

/** Creates the worker. Its effect runs one round, and returns true if there is more to do at once. */
export const make = Effect.gen(function* () {
  const alerts = yield* Alerts
  const delivery = yield* Delivery
  const tokens = yield* AlertTokens
  const settings = yield* Settings
  const withLease = yield* makeWithLease
  const pace = makePace()
  const clocks = yield* TestClocks
  const base = publicBaseOf(settings)

  const sendOne = Effect.fnUntraced(function* (alert: DueAlert) {
    yield* pace(settings.grantMessagesPerSecond)
    const roomUrl = `${base}/e/${alert.experienceId}`
    const endUrl = `${roomUrl}/alert?token=${yield* tokens.issue(alert)}`
    const outcome = yield* delivery.deliver(alertMessage(alert, { roomUrl, endUrl }))
    const now = yield* Time.now
    yield* retryRecording(alerts.record(alert, outcome, now))
  })

  const sendAll = (due: ReadonlyArray<DueAlert>) =>
    Effect.forEach(
      due,
      (alert) => orElseLogged(failureMessage, undefined)(inTimeOf(clocks, alert.tenant)(sendOne(alert))),
      {
        concurrency: emailsAtOnce,
        discard: true
      }
    )

  return Effect.gen(function* () {
    const isAny = (yield* alerts.due(yield* Time.serverNow)).length > 0
    if (!isAny) return false
    // What another process has sent meanwhile is not due any more.
    const sendDue = Effect.flatMap(Time.serverNow, alerts.due).pipe(
      Effect.tap(sendAll),
      Effect.map((due) => due.length > 0)
    )
    return yield* withLease("alerts", "keep", sendDue)
  })
})

/** Starts the fiber that runs the rounds. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(Effect.all([make, MessagesOwed]), ([round, { alerts: wakeUp }]) =>
    start({ round, pauseMillis: pollMillis, wakeUp, failureMessage })
  )
).pipe(Layer.provide(Layer.merge(Alerts.layer, Leases.layer)))
