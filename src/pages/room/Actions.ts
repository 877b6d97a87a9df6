/**
 * The actions of a visitor in a room: the forms of its pages. Each action runs the operation of the Consumer API, and
 * every action is safe to repeat.
 */
import { Effect } from "effect"
import { declarations } from "../../domain/mechanism/Mechanism.ts"
import { amountOf } from "../Amounts.ts"
import type { ConsumerApiClient, GroupName, OperationName } from "../ApiClients.ts"
import { Refusal } from "../Refusal.ts"
import type { Places } from "./Places.ts"
import type { Sessions } from "./Session.ts"
import { makeSignInActions } from "./signIn/SignInActions.ts"
import { callerOf } from "./Visit.ts"
import { type ActionRequest, type ActionResult, makeActionRunner, type Run, type ActionRunner } from "./ActionRunner.ts"

const actionNames = [
  "enter",
  "leave",
  "bid",
  "book",
  "cancel",
  "reschedule",
  "join",
  "remind",
  "outbid",
  "sign-in",
  "code",
  "access-code",
  "sign-out"
] as const
export type ActionName = (typeof actionNames)[number]

export const isAction = (name: string): name is ActionName => (actionNames as ReadonlyArray<string>).includes(name)

/** The actions that start the session of a guest. */
const guestActions = new Set<ActionName>(["enter", "leave", "bid", "book", "cancel", "reschedule", "access-code"])

export const startsSession = (name: ActionName): boolean => guestActions.has(name)

/** Makes the function that runs an action. It counts the request under the limits of the action's operation. */
export const make = (api: ConsumerApiClient["Service"], places: Places, sessions: Sessions) => {
  const runner = makeActionRunner(api, places, sessions)
  const { onMechanism } = runner
  const signIn = makeSignInActions(api, sessions, runner, (name, context) =>
    name === "join" || name === "enter" || isAlertAction(name) ? actions[name](context) : Effect.succeed({})
  )

  const asked = { join: onMechanism("join"), remind: makeAlert(api, "remind"), outbid: makeAlert(api, "outbid") }
  /** A message needs an address, so a visitor without one proves one first. */
  const withAddress = (name: keyof typeof asked, context: ActionRequest): Run => {
    if (context.visit.session?.sessionType === "authenticated") return asked[name](context)
    context.fields.set("then", name)
    return signIn.sendCode(context)
  }

  const actions: { readonly [Name in ActionName]: (context: ActionRequest) => Run } = {
    enter: onMechanism("enter"),
    leave: onceSure(onMechanism("leave")),
    bid: makeBid(runner, places),
    book: onMechanism("book"),
    cancel: onceSure(onMechanism("cancel")),
    reschedule: onMechanism("reschedule"),
    join: (context) => withAddress("join", context),
    remind: (context) => withAddress("remind", context),
    outbid: (context) => withAddress("outbid", context),
    "sign-in": signIn.sendCode,
    code: signIn.code,
    "access-code": signIn.accessCode,
    "sign-out": signIn.signOut
  }

  return (name: ActionName, context: ActionRequest): Run =>
    Effect.flatMap(operationOf(places, name, context), ([group, operation]) =>
      Effect.andThen(api.count(callerOf(context.visit), group, operation as never), actions[name](context))
    )
}

/** The actions that ask for an email, and end it. */
const alertActions = ["remind", "outbid"] as const
export type AlertAction = (typeof alertActions)[number]

export const isAlertAction = (name: string | null): name is AlertAction =>
  (alertActions as ReadonlyArray<string | null>).includes(name)

/** Makes the action that asks for an email in the language of the page. */
const makeAlert =
  (api: ConsumerApiClient["Service"], name: AlertAction) =>
  ({ visit, fields }: ActionRequest): Run => {
    const { experienceId } = visit.room
    const payload = { language: visit.language }
    const isEnd = fields.has("stop")
    const run =
      name === "remind"
        ? api.run(callerOf(visit), "alerts", isEnd ? "endReminder" : "remind", { params: { experienceId }, payload })
        : api.run(callerOf(visit), "alerts", isEnd ? "endOutbid" : "tellOutbid", {
            params: { auctionId: fields.get("at") ?? "" },
            payload
          })
    return Effect.as(run, {})
  }

/** Makes an action that gives something up. The first form of a visitor asks, and the form of the answer acts. */
const onceSure =
  (act: (context: ActionRequest) => Run) =>
  (context: ActionRequest): Run =>
    context.fields.has("confirmed")
      ? act(context)
      : Effect.succeed({ show: { leaving: context.fields.get("at") ?? undefined } })

/** An amount that shows how the language groups and separates digits. */
const exampleAmount = "1500"

/**
 * Makes the action of a bid. It is confirmed before it is sent, because it is final. A signed-in visitor confirms an
 * unusually high one once more.
 */
const makeBid =
  ({ onMechanism }: ActionRunner, places: Places) =>
  (context: ActionRequest): Run => {
    const { visit, fields } = context
    const at = fields.get("at") ?? ""
    const typed = fields.get("amount") ?? ""
    const confirmed = fields.get("confirmed")
    if (confirmed === null) {
      return Effect.flatMap(auctionOf(places, context), ({ currencyCode, isFalling }) => {
        const amount = isFalling && price.test(typed) ? typed : amountOf(typed, visit.language, currencyCode)
        return amount === undefined
          ? Effect.fail(new Refusal({ status: 400, code: "AMOUNT", amount: exampleAmount, currencyCode }))
          : Effect.succeed({ show: { unconfirmed: { at, amount } } })
      })
    }
    // The page that asks for the confirmation has written the amount itself.
    const isSure = confirmed === "unlikely"
    const sent = onMechanism("bid")(context)
    if (isSure || visit.session?.sessionType !== "authenticated") return sent
    return Effect.catchTag(sent, "Refusal", (refusal) =>
      refusal.code === "BID_UNLIKELY"
        ? Effect.succeed<ActionResult>({ show: { unconfirmed: { at, amount: typed, isUnlikely: true } } })
        : Effect.fail(refusal)
    )
  }

/** A falling price, as the form of the page has it. No language changes how it is read. */
const price = /^\d{1,12}(?:\.\d{1,8})?$/

/** The currency of the auction that the form names, or else that of the experience, and whether its price falls. */
const auctionOf = (places: Places, { visit, fields }: ActionRequest) =>
  Effect.map(places.ofVisitor(callerOf(visit), visit.room.experienceId), ({ experience, mechanisms }) => {
    const named = mechanisms.find(({ record }) => record.id === fields.get("at"))
    return named?.kind === "auction"
      ? { currencyCode: named.record.currencyCode, isFalling: named.record.auctionType === "dutch" }
      : { currencyCode: experience.currencyCode, isFalling: false }
  })

const general = ["consumers", "me"] as const

/** The operation whose limits an action has. */
const operationOf = (
  places: Places,
  name: ActionName,
  { visit, fields }: ActionRequest
): Run<readonly [GroupName, OperationName<GroupName>]> => {
  const isKnown = visit.session?.sessionType === "authenticated"
  if (name === "sign-in" || ((name === "join" || isAlertAction(name)) && !isKnown))
    return Effect.succeed(["auth", "requestOneTimeCode"])
  if (name !== "enter" && name !== "bid") return Effect.succeed(general)
  return Effect.map(places.shown({ holder: visit.holder }, visit.room.experienceId), ({ mechanisms }) => {
    const kind = mechanisms.find(({ record }) => record.id === fields.get("at"))?.kind
    if (kind === undefined || (kind === "auction") !== (name === "bid")) return general
    return kind === "appointment" ? general : [declarations[kind].group, name]
  })
}
