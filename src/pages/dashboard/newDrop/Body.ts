/** The body that creates a drop from a sent form, and the field of each value in it. */
import { fieldOf, isSingle } from "../../../domain/mechanism/Mechanism.ts"
import { type Millis, toText } from "../../../domain/values/Time.ts"
import { instantIn, numberIn, textIn } from "../form/Typed.ts"
import { Answers } from "./Answers.ts"
import { askOf, type Part, parts } from "./Parts.ts"
import { productFieldAt, productIn } from "./ProductPart.ts"
import { textsIn } from "./Texts.ts"

/** Who may enter, besides an audience by its id. */
export const everybody = "everybody"
export const withCode = "code"

/** The drop opens when it is created, whatever the date says. */
export const atOnce = "now"

/** Returns when a drop opens, as a person has typed it; undefined: at once. */
export const openingIn = (fields: URLSearchParams): string | undefined =>
  fields.get("when") === atOnce ? undefined : textIn(fields, "opens")

/** The body, and what the page itself has found. */
export interface DropBody {
  readonly body: unknown
  readonly problems: ReadonlyMap<string, string>
  readonly fieldAt: (path: ReadonlyArray<string>) => string | undefined
}

/** Returns the parts that a form or an address names, in the order in which they follow each other. */
export const partsIn = (fields: URLSearchParams): ReadonlyArray<Part> => {
  const named = new Set(fields.getAll("part").flatMap((names) => names.split(",")))
  return parts.filter(({ name }) => named.has(name))
}

/** Returns the body of a form. Nothing is created by it. */
export const bodyOf = (fields: URLSearchParams, now: Millis): DropBody => {
  const problems = new Map<string, string>()
  const chosen = partsIn(fields)
  const name = textIn(fields, "name")
  const timeZone = fields.get("timeZone") ?? "UTC"
  const made = mechanismsOf(chosen, { fields, name, timeZone, now }, problems)
  const product = productIn(fields, name ?? "")
  const who = fields.get("who") ?? everybody
  const body = {
    name: name ?? "",
    timeZone,
    currencyCode: textIn(fields, "currency")?.toUpperCase(),
    i18n: textsIn(fields, chosen),
    ...product.body,
    sequences: [
      {
        name: "Everyone",
        ...(who === withCode && { accessCode: textIn(fields, "code") ?? "" }),
        ...(who !== withCode && who !== everybody && { audienceId: who }),
        orderLimitPerConsumer: numberIn(fields, "perPerson"),
        ...Object.fromEntries(
          [...Map.groupBy(made, ({ field }) => field)].map(([field, all]) => [
            field,
            isSingle(all[0]!.part.kind) ? all[0]!.settings : all.map(({ settings }) => settings)
          ])
        )
      }
    ]
  }
  return { body, problems, fieldAt: makeFieldAt(made, product.rows) }
}

interface Whole {
  readonly fields: URLSearchParams
  readonly name: string | undefined
  readonly timeZone: string
  readonly now: Millis
}

interface MadePart {
  readonly part: Part
  /** The field of a sequence that holds the mechanism. */
  readonly field: string
  readonly settings: object
}

/** The mechanisms. Each opens when it says, else when the one before it is over, else with the drop. */
const mechanismsOf = (
  chosen: ReadonlyArray<Part>,
  { fields, name, timeZone, now }: Whole,
  problems: Map<string, string>
): ReadonlyArray<MadePart> => {
  const openingAt = (field: string): Millis | undefined => {
    const text = textIn(fields, field)
    if (text === undefined) return undefined
    const typed = instantIn(text, timeZone)
    if ("at" in typed) return typed.at
    problems.set(field, typed.problem)
    return undefined
  }
  const dropOpensAt = openingIn(fields) === undefined ? undefined : openingAt("opens")
  let next = dropOpensAt
  return chosen.map((part) => {
    const answers = new Answers(fields, { prefix: part.name, timeZone }, problems)
    const openAt = isBefore(part) ? undefined : (openingAt(`${part.name}.opens`) ?? next)
    const { settings, endsAt } = part.make(answers, { openAt, start: openAt ?? now })
    if (!isBefore(part)) next = endsAt ?? openAt
    const own = textIn(fields, `${part.name}.name`) ?? name ?? ""
    // One that offers units of a stock goes on after the opening.
    const isOver = isBefore(part) && !("stockId" in settings)
    const closing = isOver && dropOpensAt !== undefined ? { closeAt: toText(dropOpensAt) } : {}
    const supportsGuest = fields.get("guests") !== "no"
    return { part, field: fieldOf[part.kind], settings: { name: own, ...closing, ...settings, supportsGuest } }
  })
}

/** True for a part that comes before the opening of the drop. */
export const isBefore = ({ kind }: Part): boolean => kind === "waitlist"

/** Makes the function that returns the field of the form for the path of a value in the body. */
const makeFieldAt =
  (made: ReadonlyArray<MadePart>, rows: ReadonlyArray<number>) =>
  (path: ReadonlyArray<string>): string | undefined => {
    if (path[0] !== "sequences") {
      return productFieldAt(path, rows) ?? { currencyCode: "currency", name: "name", timeZone: "timeZone" }[path[0]!]
    }
    const [, , field = "", index, inner, ...below] = path
    const own = { accessCode: "code", audienceId: "who", orderLimitPerConsumer: "perPerson" }[field]
    if (own !== undefined) return own
    const held = made.filter((one) => one.field === field)
    const isOnly = held[0] !== undefined && isSingle(held[0].part.kind)
    const part = isOnly ? held[0]!.part : held[Number(index)]?.part
    const setting = isOnly ? index : inner
    if (part === undefined || setting === undefined) return undefined
    if (setting === "name") return made.length > 1 ? `${part.name}.name` : "name"
    if (setting === "openAt")
      return part === made.find((one) => !isBefore(one.part))?.part ? "opens" : `${part.name}.opens`
    const [under] = isOnly ? [inner] : below
    const ask = askOf(part, setting, under)
    return ask === undefined ? undefined : `${part.name}.${ask.name}`
  }
