/** The forms of a stock: who gets units, corrections, settings, and its archiving. What takes units away asks first. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import type { Refusal } from "../../Refusal.ts"
import type { Problems } from "../form/Form.ts"
import type { Call } from "../form/Refused.ts"
import { numberIn } from "../form/Typed.ts"
import { asked, type Screen } from "../Frame.ts"
import { makeMechanisms } from "../NamedMechanisms.ts"
import { count, counted } from "../Parts.ts"
import { post, type Reply, type Route } from "../Route.ts"
import { makeNaming } from "./Naming.ts"
import { settingsIn, stockProblems } from "./StockForm.ts"
import { type ShownAgain, type StockFormName, timeZoneOf } from "./StockScreen.ts"
import { arrangedTakers, takersIn, type TypedTaker } from "./TakerFields.ts"
import { type Stock, stocksPath } from "./Words.ts"

type Api = AdminApiClient["Service"]

type Show = (operator: Operator, id: string, again?: ShownAgain) => Call<Screen>

/** A sent form of a stock. */
interface SentForm {
  readonly operator: Operator
  readonly id: string
  readonly fields: URLSearchParams
  readonly refuse: (form: StockFormName, problems: Problems) => Call<Reply>
  /** Shows the form again if the API could accept another input. */
  readonly orShown: (form: StockFormName) => (run: Call<Reply>) => Call<Reply>
}

/** The field that says that a person has read what is taken away. */
const agreed = "agreed"

export const makeChanges = (api: Api, show: Show): ReadonlyArray<Route> => {
  const form = (name: string, run: (sent: SentForm) => Call<Reply>) =>
    post(`/stocks/:id/${name}`, "operator", (operator, { params, fields }) => {
      const id = params["id"]!
      const refuse: SentForm["refuse"] = (of, problems) => show(operator, id, { form: of, fields, problems })
      const orShown: SentForm["orShown"] = (of) =>
        Effect.catchTag("Refusal", (refusal: Refusal) =>
          refusal.status === 400 || refusal.status === 409 ? refuse(of, stockProblems(refusal)) : Effect.fail(refusal)
        )
      return run({ operator, id, fields, refuse, orShown })
    })
  return [
    form("takers", makeChangeTakers(api, show)),
    form("adjust", adjust(api)),
    form("settings", changeSettings(api)),
    form("archive", archive(api))
  ]
}

const led = (id: string, done: string): Reply => ({ goTo: `${stocksPath}/${id}`, done })

/** The fields of a form whose effect a person has read. The next screen has an id of its own. */
const confirming = (fields: URLSearchParams): URLSearchParams => {
  const again = new URLSearchParams(fields)
  again.delete("confirmed")
  again.set(agreed, "yes")
  return again
}

/** Returns how many units each mechanism has to give back if these are the takers. Those that grants hold stay. */
export const givenBack = ({ allocations }: Pick<Stock, "allocations">, takers: ReadonlyArray<TypedTaker>) =>
  allocations.flatMap(({ distributionId, allocated, held, sold }) => {
    const taker = takers.find(({ of }) => of === distributionId)
    const limit = taker === undefined ? 0 : Number(taker.units ?? taker.upTo ?? Infinity)
    const units = Math.min(allocated - held, Math.max(0, allocated - Math.max(0, limit - sold)))
    return units > 0 ? [{ distributionId, units }] : []
  })

const makeChangeTakers = (api: Api, show: Show) => {
  const mechanisms = makeMechanisms(api)
  const letSell = makeNaming(api)
  return Effect.fnUntraced(function* ({ operator, id, fields, refuse, orShown }: SentForm) {
    const moved = arrangedTakers(fields)
    if (moved !== undefined) return yield* show(operator, id, { form: "takers", fields: moved })
    const { takers, problems } = takersIn(fields, yield* timeZoneOf(api, operator))
    if (problems.size > 0) return yield* refuse("takers", problems)
    const stock = yield* api.run(operator, "stocks", "getStock", { params: { id } })
    const ids = [...takers.map(({ of }) => of), ...stock.allocations.map(({ distributionId }) => distributionId)]
    const names = yield* mechanisms(operator, ids)
    const lost = givenBack(stock, takers)
    if (lost.length > 0 && !fields.has(agreed)) {
      const nameOf = (of: string) => isolated(names.get(of)?.label ?? "An archived mechanism", "")
      return asked({
        title: "Take units back?",
        says: `${lost
          .map(
            ({ distributionId, units }) => `${nameOf(distributionId)} gives ${counted(units, "unit", "units")} back.`
          )
          .join(" ")} They go to those who are next in the list. What somebody holds stays where it is.`,
        path: `${stocksPath}/${id}/takers`,
        back: `${stocksPath}/${id}`,
        button: "Take them back",
        fields: confirming(fields),
        isHarmful: true
      })
    }
    const payload = { takers: takers.map(({ of, ...taker }) => ({ distributionId: of, ...taker })) }
    return yield* api.run(operator, "stocks", "changeStock", { params: { id }, payload }).pipe(
      Effect.andThen(
        letSell(
          operator,
          takers.flatMap(({ of }) => names.get(of)?.mechanism ?? []),
          id
        )
      ),
      Effect.map((left) => led(id, ["The list was changed.", ...left].join(" "))),
      orShown("takers")
    )
  })
}

const adjust = (api: Api) =>
  Effect.fnUntraced(function* ({ operator, id, fields, refuse, orShown }: SentForm) {
    const units = numberIn(fields, "units")
    const reason = fields.get("reason") ?? ""
    const problems = new Map([
      ...(typeof units === "number" && units > 0 ? [] : [["units", "Enter how many, at least 1."] as const]),
      ...(reason === "" ? [["reason", "Choose a reason."] as const] : [])
    ])
    if (typeof units !== "number" || problems.size > 0) return yield* refuse("adjust", problems)
    const isTaken = fields.get("direction") === "take"
    if (isTaken && !fields.has(agreed)) {
      const { name } = yield* api.run(operator, "stocks", "getStock", { params: { id } })
      return asked({
        title: `Take units of ${isolated(name, "")} away?`,
        says: `${counted(units, "free unit leaves", "free units leave")} the stock, and nobody can buy ${units === 1 ? "it" : "them"}.`,
        path: `${stocksPath}/${id}/adjust`,
        back: `${stocksPath}/${id}`,
        button: `Take ${count(units)} away`,
        fields: confirming(fields),
        isHarmful: true
      })
    }
    const payload = { by: isTaken ? -units : units, reason }
    return yield* api.run(operator, "stocks", "adjustStock", { params: { id }, payload }).pipe(
      Effect.map(({ onHand }) => led(id, `${counted(onHand, "unit is", "units are")} on hand now.`)),
      // The number that is free is what a person needs to know.
      Effect.catchIf(
        ({ code }) => code === "OUT_OF_STOCK",
        ({ detail = "" }) => refuse("adjust", new Map([["units", `${detail}.`]]))
      ),
      orShown("adjust")
    )
  })

const changeSettings = (api: Api) =>
  Effect.fnUntraced(function* ({ operator, id, fields, orShown }: SentForm) {
    return yield* api
      .run(operator, "stocks", "changeStock", { params: { id }, payload: settingsIn(fields) })
      .pipe(Effect.as(led(id, "The settings were changed.")), orShown("settings"))
  })

const archive = (api: Api) =>
  Effect.fnUntraced(function* ({ operator, id, fields }: SentForm) {
    if (fields.has("confirmed")) {
      const { name } = yield* api.run(operator, "stocks", "archiveStock", { params: { id } })
      return {
        goTo: stocksPath,
        done: `${isolated(name, "")} is archived. Its sizes count their units themselves again.`
      }
    }
    const { name, onHand, sold } = yield* api.run(operator, "stocks", "getStock", { params: { id } })
    return asked({
      title: `Archive ${isolated(name, "")}?`,
      says: `${counted(onHand - sold, "unit that is not sold goes", "units that are not sold go")} back to the first size. The stock cannot be restored; you can make another one. A mechanism that still sells from it keeps it from being archived.`,
      path: `${stocksPath}/${id}/archive`,
      back: `${stocksPath}/${id}`,
      button: "Archive",
      isHarmful: true
    })
  })
