/** The routes of stocks: the list, a new one, one stock with its forms, and its history. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import { isUuid } from "../../../domain/values/Ids.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import type { Sent } from "../form/Form.ts"
import { makeOffered } from "../NamedMechanisms.ts"
import { get, post, type Reply, type Route } from "../Route.ts"
import { canJoin, makeNaming } from "./Naming.ts"
import { makeSizes } from "./Sizes.ts"
import { makeChanges } from "./StockChanges.ts"
import { newScreen, productField, settingsIn, stockProblems } from "./StockForm.ts"
import * as StockHistory from "./StockHistory.ts"
import { makeShowAll } from "./StockList.ts"
import { makeShow, timeZoneOf } from "./StockScreen.ts"
import { arrangedTakers, takersIn } from "./TakerFields.ts"
import { stocksPath } from "./Words.ts"

type Api = AdminApiClient["Service"]

/** The routes. */
export const make = (api: Api): ReadonlyArray<Route> => {
  const show = makeShow(api)
  return [
    get("/stocks", makeShowAll(api)),
    ...newRoutes(api),
    get("/stocks/:id", (operator, { params }) => show(operator, params["id"]!)),
    ...StockHistory.make(api),
    ...makeChanges(api, show)
  ]
}

const newRoutes = (api: Api): ReadonlyArray<Route> => {
  const around = makeAround(api)
  const letSell = makeNaming(api)
  const form = Effect.fnUntraced(function* (operator: Operator, sent: Sent) {
    return newScreen(yield* around(operator, sent.fields), sent)
  })
  return [
    {
      ...get("/stocks/new", (operator, { query }) =>
        form(operator, { fields: new URLSearchParams([...query].filter(([name]) => name === productField)) })
      ),
      role: "operator"
    },
    post(
      "/stocks",
      "operator",
      Effect.fnUntraced(function* (operator, { fields }) {
        const moved = arrangedTakers(fields)
        if (moved !== undefined) return yield* form(operator, { fields: moved })
        const { mechanisms, timeZone } = yield* around(operator, fields)
        const { takers, problems } = takersIn(fields, timeZone)
        if (problems.size > 0) return yield* form(operator, { fields, problems })
        const { lowAt, ...settings } = settingsIn(fields)
        const payload = {
          ...settings,
          ...(lowAt !== null && { lowAt }),
          variantIds: fields.getAll("variants"),
          takers: takers.map(({ of, ...taker }) => ({ distributionId: of, ...taker }))
        }
        const joining = takers.flatMap(({ of }) => mechanisms.get(of)?.mechanism ?? [])
        const made = Effect.gen(function* () {
          const { id, name } = yield* api.run(operator, "stocks", "createStock", { payload })
          const left = yield* letSell(operator, joining, id)
          const reply: Reply = {
            goTo: `${stocksPath}/${id}`,
            done: [`${isolated(name, "")} is made.`, ...left].join(" ")
          }
          return reply
        })
        return yield* Effect.catchTag(made, "Refusal", (refusal) =>
          refusal.status === 400 || refusal.status === 409
            ? form(operator, { fields, problems: stockProblems(refusal) })
            : Effect.fail(refusal)
        )
      })
    )
  ]
}

/** Makes the function that reads what the form of a new stock offers. */
const makeAround = (api: Api) => {
  const sizesOf = makeSizes(api)
  const offered = makeOffered(api)
  return Effect.fnUntraced(function* (operator: Operator, fields: URLSearchParams) {
    const id = fields.get(productField) ?? ""
    const products = isUuid(id) ? [yield* api.run(operator, "products", "getProduct", { params: { id } })] : undefined
    return {
      sizes: yield* sizesOf(operator, products),
      mechanisms: yield* offered(operator, [], canJoin),
      timeZone: yield* timeZoneOf(api, operator)
    }
  })
}
