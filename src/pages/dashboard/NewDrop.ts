/** Creates a drop with a few fields, from a template. Each template becomes one experience of the Admin API. */
import { Clock, Effect, Option, Schema } from "effect"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { html } from "../Html.ts"
import type { AdminApiClient } from "../ApiClients.ts"
import { formId } from "./FormId.ts"
import { field, problemNote, type Screen } from "./Frame.ts"
import { toText } from "../../domain/values/Time.ts"

/** The screen with one form for each template, and the errors of the sent one. */
export const newDropScreen = (sent?: { readonly fields: URLSearchParams; readonly problem: string }): Screen => ({
  title: "New drop",
  status: sent === undefined ? 200 : 400,
  body: html`
    ${problemNote(sent?.problem)}
    <p>Choose how consumers get their chance. Everything can be changed later with the Admin API.</p>
    <div class="cards">${templates.map((template) => formOf(template, sent?.fields))}</div>
  `
})

const formOf = ({ name, title, use, asks }: (typeof templates)[number], sent: URLSearchParams | undefined) => {
  const own = sent?.get("template") === name ? sent : undefined
  const valueOf = (asked: string, fallback: string | number) => own?.get(asked) ?? fallback
  return html`
    <form method="post" action="/dashboard/new" class="card">
      <h2>${title}</h2>
      <p>${use}</p>
      <input type="hidden" name="template" value="${name}" />
      ${field("Name", "name", { value: valueOf("name", "") }, "Shown to consumers.")}
      ${field(
        "Opens in minutes",
        "opensInMinutes",
        { type: "number", value: valueOf("opensInMinutes", 30), max: 525_600 },
        "0 opens it immediately."
      )}
      ${asks.map((asked) =>
        field(
          asked.label,
          asked.name,
          { type: "number", ...asked, value: valueOf(asked.name, asked.value) },
          asked.hint
        )
      )}
      ${formId()}<button>Create ${title.toLowerCase()}</button>
    </form>
  `
}

/** Makes the function that creates the drop of a sent form. Returns its experience, or the screen again. */
export const make = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, fields: URLSearchParams) {
    const found = bodyOf(fields, yield* Clock.currentTimeMillis)
    if ("wrong" in found)
      return { screen: newDropScreen({ fields, problem: `${found.wrong}: the value is not valid.` }) }
    return yield* api.run(operator, "experiences", "createExperience", { payload: found.body }).pipe(
      Effect.map(({ id }) => ({ experienceId: id })),
      Effect.catchTag("Refusal", (refusal) =>
        refusal.status === 400
          ? Effect.succeed({ screen: newDropScreen({ fields, problem: refusal.detail ?? "A value is not valid." }) })
          : Effect.fail(refusal)
      )
    )
  })

/** A number that a template asks for. */
interface NumberField {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly value: number
  readonly min: number
  readonly max: number
}

interface Template {
  readonly name: string
  readonly title: string
  /** When it is the right one, in a sentence. */
  readonly use: string
  readonly asks: ReadonlyArray<NumberField>
  /** The mechanisms of the sequence, as the Admin API takes them. */
  readonly mechanisms: (answers: { readonly [name: string]: number }, openAt: number, name: string) => object
}

const minute = 60_000

const units: NumberField = {
  name: "units",
  label: "Units",
  hint: "How many consumers can get one.",
  value: 100,
  min: 1,
  max: 1_000_000
}
const minutesOpen: NumberField = {
  name: "minutesOpen",
  label: "Minutes open",
  hint: "How long it accepts entries.",
  value: 60,
  min: 1,
  max: 525_600
}
const startPrice: NumberField = {
  name: "startPrice",
  label: "Starting price",
  hint: "In the organization's currency.",
  value: 100,
  min: 1,
  max: 1_000_000
}

const templates: ReadonlyArray<Template> = [
  {
    name: "queue",
    title: "Queue",
    use: "First come, first served, with a lobby whose order is drawn at random, at a pace your shop can handle.",
    asks: [
      units,
      {
        name: "rate",
        label: "Admissions per minute",
        hint: "How many consumers may continue to your shop each minute.",
        value: 60,
        min: 1,
        max: 1_000_000
      },
      {
        name: "minutesToBuy",
        label: "Minutes to buy",
        hint: "After that the place goes to the next consumer.",
        value: 10,
        min: 1,
        max: 1_440
      }
    ],
    mechanisms: ({ units: maxAdmissions, rate, minutesToBuy }, openAt, name) => ({
      queues: [
        {
          name,
          admitRate: rate,
          maxAdmissions,
          admissionExpirationSeconds: minutesToBuy! * 60,
          recycleExpiredAdmissions: true,
          openAt: toText(openAt),
          lobbyOpenAt: toText(openAt - 15 * minute)
        }
      ]
    })
  },
  {
    name: "draw",
    title: "Draw",
    use: "Everyone who enters in time has the same chance, and anyone can check the result.",
    asks: [units, minutesOpen],
    mechanisms: ({ units: winnerCount, minutesOpen: minutes }, openAt, name) => {
      const closeAt = openAt + minutes! * minute
      return {
        draws: [{ name, winnerCount, openAt: toText(openAt), closeAt: toText(closeAt), drawAt: toText(closeAt) }]
      }
    }
  },
  {
    name: "auction",
    title: "Auction",
    use: "The highest bids win. A late bid extends the auction.",
    asks: [{ ...units, value: 1 }, startPrice, minutesOpen],
    mechanisms: ({ units: quantity, startPrice: price, minutesOpen: minutes }, openAt, name) => {
      const closeAt = toText(openAt + minutes! * minute)
      return {
        auctions: [
          {
            name,
            auctionType: "english",
            quantity,
            startPrice: `${price}`,
            supportsGuest: false,
            openAt: toText(openAt),
            closeAt,
            settleAt: closeAt,
            autoExtendSeconds: 60
          }
        ]
      }
    }
  },
  {
    name: "timed-release",
    title: "Timed release",
    use: "The first consumers to claim a unit hold it for a while, without a line.",
    asks: [units],
    mechanisms: ({ units: capacity }, openAt, name) => ({ timedReleases: [{ name, capacity, openAt: toText(openAt) }] })
  }
]

const Count = Schema.decodeUnknownOption(Schema.NumberFromString.check(Schema.isInt()))

/** Returns the body that creates the drop, or the label of the first field that is wrong. */
const bodyOf = (fields: URLSearchParams, now: number): { readonly body: object } | { readonly wrong: string } => {
  const template = templates.find(({ name }) => name === fields.get("template"))
  if (template === undefined) return { wrong: "Kind" }
  const name = (fields.get("name") ?? "").trim()
  if (name === "" || name.length > 200) return { wrong: "Name" }
  const minutes = Option.getOrUndefined(Count(fields.get("opensInMinutes")))
  if (minutes === undefined || minutes < 0 || minutes > 525_600) return { wrong: "Opens in minutes" }
  const answers: Record<string, number> = {}
  for (const { name: field, label, min, max } of template.asks) {
    const value = Option.getOrUndefined(Count(fields.get(field)))
    if (value === undefined || value < min || value > max) return { wrong: label }
    answers[field] = value
  }
  const openAt = now + Math.max(minutes * minute, 1_000)
  return { body: { name, sequences: [{ name: "Everyone", ...template.mechanisms(answers, openAt, name) }] } }
}
