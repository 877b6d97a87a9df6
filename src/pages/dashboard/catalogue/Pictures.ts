/** The pictures that people have uploaded, and their removal. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { isUuid } from "../../../domain/values/Ids.ts"
import { html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { formatsOf } from "../../Formats.ts"
import { notFound } from "../../Refusal.ts"
import { action, asked } from "../Frame.ts"
import { get, post, type Reply, type Route, type RouteRequest } from "../Route.ts"
import { instant, listQueryOf, pager, table } from "../Table.ts"

type Picture = AdminAnswer<"pictures", "getPicture">

const path = "/dashboard/catalogue/pictures"

export const make = (api: AdminApiClient["Service"]): ReadonlyArray<Route> => [
  get("/catalogue/pictures", makeList(api)),
  post(
    "/catalogue/pictures/remove",
    "operator",
    Effect.fnUntraced(function* (operator, { fields }) {
      const params = { id: fields.get("picture") ?? "" }
      if (!isUuid(params.id)) return yield* notFound
      if (!fields.has("confirmed")) return asking(fields)
      yield* api.run(operator, "pictures", "removePicture", { params })
      const reply: Reply = { goTo: path, done: "The picture was removed." }
      return reply
    })
  )
]

const asking = (fields: URLSearchParams) =>
  asked({
    title: "Remove the picture?",
    says: "Its address leads nowhere from then on. A picture that a product, a look or a page shows stays.",
    path: `${path}/remove`,
    back: path,
    button: "Remove",
    fields,
    isHarmful: true
  })

const makeList = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, { query }: RouteRequest) {
    const page = yield* api.run(operator, "pictures", "listPictures", {
      query: { sortDir: "desc", ...listQueryOf(query) }
    })
    const mayRemove = mayDo(operator.role, "operator")
    const { number } = formatsOf("en", "UTC")
    return {
      title: "Pictures",
      body: html`
        ${table<Picture>(
          "Uploaded pictures, newest first",
          page.data,
          [
            {
              title: "Picture",
              cell: ({ url }) => html`<a href="${url}"><img class="thumb" src="${url}" alt="Open" loading="lazy" /></a>`
            },
            { title: "Size", cell: ({ width, height }) => `${width} × ${height}` },
            { title: "Kilobytes", cell: ({ bytes }) => number(Math.ceil(bytes / 1_000)) },
            { title: "Uploaded", cell: ({ createdAt }) => instant(createdAt) },
            {
              title: "",
              cell: ({ id }) =>
                mayRemove &&
                action(
                  `${path}/remove`,
                  "Remove…",
                  html`<input type="hidden" name="picture" value="${id}" />`,
                  "quiet danger",
                  true
                )
            }
          ],
          html`No picture yet. <a href="/dashboard/new">Upload one with a new drop</a>, a product, or a drop's look.`
        )}
        ${pager(page, path, query)}
      `
    }
  })
