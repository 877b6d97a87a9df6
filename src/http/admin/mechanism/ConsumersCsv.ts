/** Writes the consumers of a mechanism as CSV, a page of the list at a time. */
import { Effect, Option, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { ownFields } from "../../../domain/mechanism/PlaceFields.ts"
import { csvRow } from "../../../domain/values/Csv.ts"
import { attachmentOf } from "../../../domain/values/FileName.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { toText } from "../../../domain/values/Time.ts"
import { pageSizeMax } from "../../../domain/values/Lists.ts"
import { rowsMax } from "../../../api/admin/ConsumersCsvApi.ts"
import { type ConsumerPlace, type PlaceFilter, Places } from "../../../store/mechanism/Places.ts"

const own = Object.keys(ownFields) as ReadonlyArray<keyof typeof ownFields>

const header = ["consumerId", "fullName", "email", "phone", "status", "enteredAt", "updatedAt", "riskScore", ...own]

const rowOf = ({ consumerId, fullName, email, phone, status, enteredAt, updatedAt, risk, fields }: ConsumerPlace) =>
  csvRow([
    consumerId,
    fullName,
    email,
    phone,
    status,
    toText(enteredAt),
    toText(updatedAt),
    risk.score,
    ...own.map((name) => fields[name])
  ])

/**
 * Makes the function that answers with the file, which is named by `names`. The first page is read before the answer
 * begins.
 */
export const make = Effect.map(Places, (places) =>
  Effect.fnUntraced(function* (tenant: Tenant, id: string, filter: PlaceFilter, names: ReadonlyArray<string>) {
    const pageAfter = (after: string | undefined) =>
      places.list(tenant, id, { first: pageSizeMax, ...(after !== undefined && { after }) }, filter)
    const first = yield* pageAfter(undefined)
    const later = Stream.paginate(first, (page) =>
      Effect.gen(function* () {
        const { endCursor } = page.pageInfo
        const isLast = page.data.length < pageSizeMax || endCursor === null
        const next = isLast ? Option.none() : Option.some(yield* pageAfter(endCursor))
        return [page.data, next] as const
      })
    )
    const rows = Stream.map(Stream.take(later, rowsMax), rowOf)
    const text = Stream.concat(Stream.make(csvRow(header)), rows)
    return HttpServerResponse.stream(Stream.encodeText(text), {
      contentType: "text/csv; charset=utf-8",
      headers: { "content-disposition": attachmentOf(names, "csv") }
    })
  })
)
