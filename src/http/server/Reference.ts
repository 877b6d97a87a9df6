/**
 * The description of an API (OpenAPI), and pages that show it: one with the list of all operations, and one for each
 * group. They have no script, and load nothing.
 */
import { Context, Effect } from "effect"
import { type HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { createHash } from "node:crypto"
import type { Document } from "./Documents.ts"
import { type Described, groupPage, indexPage, style } from "./ReferencePage.ts"
import { slugOf } from "./ReferenceText.ts"

/** The description, as JSON. */
export const description = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Effect.Effect<Document> =>
  Effect.sync(() => ({ text: JSON.stringify(OpenApi.fromApi(api)), contentType: "application/json" }))

/** The page with the list of all operations. */
export const index = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Effect.Effect<Document> => Effect.sync(() => documentOf(indexPage(describedOf(api))))

/** The pages of the groups, by their names in addresses. The description costs a tenth of a start, so it waits for a request. */
export const groups = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<readonly [slug: string, page: Effect.Effect<Document>]> =>
  (Object.values(api.groups) as unknown as ReadonlyArray<HttpApiGroup.Top>).map(({ annotations, identifier }) => {
    const title = Context.getOrElse(annotations, OpenApi.Title, () => identifier)
    return [
      slugOf(title),
      Effect.sync(() => {
        const described = describedOf(api)
        return documentOf(
          groupPage(
            described,
            described.tags.find(({ name }) => name === title)!
          )
        )
      })
    ]
  })

const describedOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Described => OpenApi.fromApi(api) as unknown as Described

const documentOf = (text: string): Document => ({
  text,
  contentType: "text/html; charset=utf-8",
  headers: { "content-security-policy": policy, "referrer-policy": "no-referrer" }
})

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")
