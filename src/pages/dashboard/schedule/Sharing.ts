/**
 * Sells a drop from one stock: makes the stock, makes the mechanisms that the form asks for, lets all of them sell from
 * it, and sets who gets units in what order. Each step that is done is in the form when a later one is refused, so the
 * form can be sent again.
 */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { declarations } from "../../../domain/mechanism/Mechanism.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import { instantOf, type Millis, toText } from "../../../domain/values/Time.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import type { Refusal } from "../../Refusal.ts"
import type { Drop, Mechanism } from "../drop/Drop.ts"
import type { TabFrame } from "../drop/Tab.ts"
import { problemsOf, type Problems, type Sent } from "../form/Form.ts"
import type { Call } from "../form/Refused.ts"
import { instantIn, numberIn, textIn } from "../form/Typed.ts"
import { Answers } from "../newDrop/Answers.ts"
import type { Part } from "../newDrop/Parts.ts"
import { count } from "../Parts.ts"
import { get, post, type Reply, type Route } from "../Route.ts"
import { makeNaming, stockIdOf, stockSettings } from "../stocks/Naming.ts"
import { makeSizes, newestStocks } from "../stocks/Sizes.ts"
import { givenBack } from "../stocks/StockChanges.ts"
import { stockProblems } from "../stocks/StockForm.ts"
import { arrangedTakers, replaceTaker, takersIn, type TypedTaker } from "../stocks/TakerFields.ts"
import { type Stock, stocksPath } from "../stocks/Words.ts"
import { fieldIn } from "./AddForm.ts"
import { sequenceOf, tabPath } from "./Sequences.ts"
import { afterwards, firstFields, joining, newStock, partOf, sharingScreen } from "./SharingForm.ts"

type Api = AdminApiClient["Service"]

/** The routes of the form. */
export const make = (api: Api, { read, write }: TabFrame): ReadonlyArray<Route> => {
  const path = `/experiences/:id${tabPath}/stock` as const
  const sizesOf = makeSizesOf(api)
  const share = makeShare(api)
  const show = Effect.fnUntraced(function* (operator: Operator, id: string, sentTo: (drop: Drop) => Sent) {
    const drop = yield* read(operator, id)
    const around = { sizes: (yield* sizesOf(operator, drop)).sizes, stocks: yield* newestStocks(api, operator) }
    return write(drop, sharingScreen(drop, around, sentTo(drop)))
  })
  const first = Effect.fnUntraced(function* (operator: Operator, id: string, query: URLSearchParams) {
    const drop = yield* read(operator, id)
    const { sizes, areOffered } = yield* sizesOf(operator, drop)
    const stockId = joining(drop).flatMap((one) => stockIdOf(one) ?? [])[0]
    const stock =
      stockId === undefined ? undefined : yield* api.run(operator, "stocks", "getStock", { params: { id: stockId } })
    const opens = query.get("opens") ?? ""
    return yield* show(operator, id, (current) => ({
      fields: firstFields(current, { opens, sizes: areOffered ? sizes : [], stock })
    }))
  })
  return [
    { ...get(path, (operator, { params, query }) => first(operator, params["id"]!, query)), role: "operator" },
    post(
      path,
      "operator",
      Effect.fnUntraced(function* (operator, { params, fields }) {
        const id = params["id"]!
        const again = (sent: Sent) => show(operator, id, () => sent)
        const moved = arrangedTakers(fields)
        if (moved !== undefined) return yield* again({ fields: moved })
        return yield* share(operator, yield* read(operator, id), fields, again)
      })
    )
  ]
}

/** Makes the function that returns the sizes of a drop's products. Without any, all of the catalogue can be chosen. */
const makeSizesOf = (api: Api) => {
  const sizesOf = makeSizes(api)
  return (operator: Operator, { experience: { products } }: Drop) => {
    const offered = products.map(({ product }) => product)
    const areOffered = offered.some(({ variants }) => variants.length > 0)
    return Effect.map(sizesOf(operator, areOffered ? offered : undefined), (sizes) => ({ sizes, areOffered }))
  }
}

/** A taker of the form with what is made from it, and when it begins. */
interface Planned {
  readonly taker: TypedTaker
  /** Absent: a mechanism that is there. */
  readonly made?: { readonly part: Part; readonly settings: { readonly [name: string]: unknown } }
}

/** Returns what a form asks for, and what the page itself finds wrong. */
export const planOf = (drop: Drop, fields: URLSearchParams) => {
  const { timeZone, name } = drop.experience
  const { takers, problems: wrong } = takersIn(fields, timeZone)
  const problems = new Map<string, string>(wrong)
  const openingAt = openingsOf(fields, timeZone, problems)
  let next = openingAt("opens")
  let last: Parameters<typeof afterwards>[0] | undefined
  const planned = takers.map((taker): Planned => {
    const part = partOf(taker.of)
    const isWaitlist = part?.kind === "waitlist"
    const starting = isWaitlist && taker.from === undefined && last !== undefined
    const begun = starting ? { ...taker, from: toText(afterwards(last!, drop.now)) } : taker
    if (part === undefined) {
      const there = drop.mechanisms.find(({ id }) => id === taker.of)
      last = there === undefined ? last : { openAt: there.openAt, closeAt: there.closeAt }
      next = (there && overAt(there)) ?? next
      return { taker: begun }
    }
    const openAt = isWaitlist ? undefined : (openingAt(`${part.name}.opens`) ?? next)
    const answers = new Answers(fields, { prefix: part.name, timeZone }, problems)
    const { settings, endsAt } = part.make(answers, { openAt, start: openAt ?? drop.now })
    if (!isWaitlist) {
      next = endsAt ?? openAt
      last = { openAt, closeAt: instantOf(`${settings["closeAt"] as string | undefined}`) }
    }
    const seconds = answers.seconds("minutesToBuy")
    const own = {
      name: textIn(fields, `${part.name}.name`) ?? `${name}: ${part.title}`,
      ...settings,
      ...(isWaitlist && seconds !== undefined && { admissionExpirationSeconds: seconds }),
      supportsGuest: fields.get("guests") !== "no"
    }
    return { taker: begun, made: { part, settings: own } }
  })
  if (takers.length === 0) problems.set("takers", "Add who gets units.")
  return { planned, problems }
}

/** When what a mechanism has given away is bought or has lapsed; undefined if it does not close by itself. */
const overAt = (mechanism: Mechanism): Millis | undefined => {
  if (mechanism.type === "appointment" || mechanism.closeAt === null) return undefined
  return mechanism.closeAt + (mechanism.admissionExpirationSeconds ?? 0) * 1_000
}

/** Makes the function that reads the time in a field; undefined for an empty one. */
const openingsOf = (fields: URLSearchParams, timeZone: string, problems: Map<string, string>) => (field: string) => {
  const text = textIn(fields, field)
  if (text === undefined) return undefined
  const typed = instantIn(text, timeZone)
  if ("at" in typed) return typed.at as Millis | undefined
  problems.set(field, typed.problem)
  return undefined
}

/** A refused step, with the problems at the fields of the form. */
class Refused {
  readonly problems: Problems
  constructor(problems: Problems) {
    this.problems = problems
  }
}

/** Says at the fields of a form what an operation refuses. */
const atFields =
  (fieldsOf: (refusal: Refusal) => Problems) =>
  <A, R>(step: Effect.Effect<A, Refusal, R>): Effect.Effect<A, Refusal | Refused, R> =>
    Effect.mapError(step, (refusal) =>
      refusal.status === 400 || refusal.status === 409 ? new Refused(fieldsOf(refusal)) : refusal
    )

const makeShare = (api: Api) => {
  const stockOf = makeStock(api)
  const madeOf = makeMechanism(api)
  const letSell = makeNaming(api)

  const run = Effect.fnUntraced(function* (
    operator: Operator,
    drop: Drop,
    fields: URLSearchParams,
    planned: ReadonlyArray<Planned>
  ) {
    const stock = yield* stockOf(operator, drop, fields, planned)
    const sequenceId = planned.some(({ made }) => made !== undefined)
      ? yield* sequenceOf(api, operator, drop, fields)
      : ""
    const takers: Array<object> = []
    for (const { taker, made } of planned) {
      const { of, ...share } = taker
      const id = made === undefined ? of : yield* madeOf(operator, { sequenceId, stock, taker, made })
      if (made !== undefined) replaceTaker(fields, of, id)
      takers.push({ ...share, distributionId: id })
    }
    const own = new Set(planned.map(({ taker }) => taker.of))
    const there = drop.mechanisms.filter(({ id }) => own.has(id))
    const left = yield* letSell(operator, there, stock.id)
    if (left.length > 0) return yield* Effect.fail(new Refused(new Map([["", left.join(" ")]])))
    // Takers of other drops stay behind these.
    const others = takersOfOthers(stock, drop).map(({ from, ...one }) => ({
      ...one,
      ...(from !== undefined && { from: toText(from) })
    }))
    const payload = { takers: [...takers, ...others] }
    yield* api
      .run(operator, "stocks", "changeStock", { params: { id: stock.id }, payload })
      .pipe(atFields(stockProblems))
    const reply: Reply = {
      goTo: `${stocksPath}/${stock.id}`,
      done: `${isolated(drop.experience.name, "")} sells from this stock.`
    }
    return reply
  })

  return (operator: Operator, drop: Drop, fields: URLSearchParams, again: (sent: Sent) => Call<Reply>): Call<Reply> => {
    const { planned, problems } = planOf(drop, fields)
    const ids = new Set(joining(drop).map(({ id }) => id))
    if (planned.some(({ taker, made }) => made === undefined && !ids.has(taker.of))) {
      problems.set("takers", "One of the list has opened or closed meanwhile, and cannot join any more.")
    }
    if (problems.size > 0) return again({ fields, problems })
    return Effect.catch(run(operator, drop, fields, planned), (error) =>
      error instanceof Refused ? again({ fields, problems: error.problems }) : Effect.fail(error)
    )
  }
}

/** The takers of a stock that are not of this drop. */
const takersOfOthers = ({ takers }: Pick<Stock, "takers">, { mechanisms }: Drop) =>
  takers.filter(({ distributionId }) => !mechanisms.some(({ id }) => id === distributionId))

const refused = (field: string, says: string) => Effect.fail(new Refused(new Map([[field, says]])))

/** Makes the function that makes the stock of a form, or reads the chosen one, and sets its units. */
const makeStock = (api: Api) => {
  const chosenOf = makeChosen(api)
  return Effect.fnUntraced(function* (
    operator: Operator,
    drop: Drop,
    fields: URLSearchParams,
    planned: ReadonlyArray<Planned>
  ) {
    const chosen = fields.get("stock") ?? newStock
    const units = numberIn(fields, "units")
    if (typeof units === "string") return yield* refused("units", "Enter a whole number.")
    const payload = { name: textIn(fields, "name") ?? "", variantIds: fields.getAll("variants"), takers: [] }
    const stock =
      chosen === newStock
        ? yield* api.run(operator, "stocks", "createStock", { payload }).pipe(atFields(stockProblems))
        : yield* chosenOf(operator, drop, chosen, { units, planned })
    fields.set("stock", stock.id)
    if (units === undefined || units === stock.onHand) return stock
    return yield* api
      .run(operator, "stocks", "adjustStock", {
        params: { id: stock.id },
        payload: { by: units - stock.onHand, reason: "COUNTED" }
      })
      .pipe(atFields((refusal) => problemsOf(refusal, () => "units")))
  })
}

/**
 * Makes the function that reads a stock that is there. The form only hands units out: what takes some away asks first,
 * on the screen of the stock.
 */
const makeChosen = (api: Api) =>
  Effect.fnUntraced(function* (
    operator: Operator,
    drop: Drop,
    id: string,
    { units, planned }: { readonly units: number | undefined; readonly planned: ReadonlyArray<Planned> }
  ) {
    const stock = yield* api.run(operator, "stocks", "getStock", { params: { id } }).pipe(
      Effect.catchIf(
        ({ status }) => status === 404,
        () => refused("stock", "This stock is not there any more.")
      )
    )
    if (units !== undefined && units < stock.onHand) {
      return yield* refused("units", `It has ${count(stock.onHand)}. Take units away on the screen of the stock.`)
    }
    const others = takersOfOthers(stock, drop).map(({ distributionId, units, upTo }) => ({
      of: distributionId,
      ...(units !== undefined && { units }),
      ...(upTo !== undefined && { upTo })
    }))
    if (givenBack(stock, [...planned.map(({ taker }) => taker), ...others]).length > 0) {
      return yield* refused("takers", "This would take units back. Change the list on the screen of the stock.")
    }
    return stock
  })

interface Making {
  readonly sequenceId: string
  readonly stock: { readonly id: string; readonly onHand: number }
  readonly taker: TypedTaker
  readonly made: NonNullable<Planned["made"]>
}

/** Makes the function that makes a mechanism of a stock. Returns its id. */
const makeMechanism = (api: Api) =>
  Effect.fnUntraced(function* (operator: Operator, { sequenceId, stock, taker, made }: Making) {
    const { part, settings } = made
    // A draw needs a number. Its share, or all that there is, is the most that it can use.
    const winnerCount = taker.units ?? taker.upTo ?? Math.max(1, stock.onHand)
    const payload = {
      ...settings,
      ...(part.kind === "draw" && { winnerCount }),
      ...stockSettings(part.kind, stock.id),
      sequenceId
    }
    const fieldAt = fieldIn(part)
    return yield* api.run(operator, declarations[part.kind].path, "create", { payload }).pipe(
      Effect.map(({ id }): string => id),
      atFields((refusal) =>
        problemsOf(refusal, (path) => {
          const field = fieldAt(path)
          return field === "name" || field === "opens" ? `${part.name}.${field}` : field
        })
      )
    )
  })
