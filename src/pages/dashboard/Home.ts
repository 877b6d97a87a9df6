/** What runs now, what comes next, and what is over. */
import { Effect } from "effect"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { type Html, html } from "../Html.ts"
import type { AdminCalls, AnswerOf } from "./AdminCalls.ts"
import type { Screen } from "./Frame.ts"
import { table } from "./Table.ts"
import { instant, kindNames } from "./Times.ts"

type Mechanism = AnswerOf<"distributions", "listDistributions">["data"][number]

/** Rows of each list. */
const rowsMax = "50"

const lists = [
  { lifecycle: "open", title: "Now", none: "Nothing is open." },
  { lifecycle: "scheduled", title: "Next", none: "Nothing is scheduled." },
  { lifecycle: "settling", title: "Settling", none: undefined },
  { lifecycle: "closed", title: "Over", none: undefined }
] as const

/** Makes the function that reads the lists and writes the screen. */
export const make = (calls: AdminCalls["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator) {
    const found = yield* Effect.forEach(lists, ({ lifecycle }) =>
      calls.run(operator, "distributions", "listDistributions", { query: { lifecycle, first: rowsMax } })
    )
    const sections = lists.map(({ title, none }, index) => listOf(title, found[index]!.data, none))
    const isEmpty = found.every(({ data }) => data.length === 0)
    const screen: Screen = {
      title: "Now",
      body: isEmpty
        ? html`<p class="lead">There is no drop yet.</p>
            <p><a class="button" href="/dashboard/new">Create one</a></p>`
        : html`${sections}`
    }
    return screen
  })

const listOf = (title: string, mechanisms: ReadonlyArray<Mechanism>, none: string | undefined): Html | false => {
  if (mechanisms.length === 0 && none === undefined) return false
  return html`<section>
    ${table<Mechanism>(
      title,
      mechanisms,
      [
        {
          title: "Name",
          cell: ({ experienceId, name }) => html`<a href="/dashboard/experiences/${experienceId}">${name}</a>`
        },
        { title: "Kind", cell: ({ type }) => kindNames[type] },
        { title: "Opens", cell: ({ openAt }) => instant(openAt) },
        { title: "Closes", cell: ({ closeAt }) => instant(closeAt) }
      ],
      none
    )}
  </section>`
}
