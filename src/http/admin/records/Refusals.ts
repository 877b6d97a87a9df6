/** Turns refusals of the store about records into answers of the Admin API. */
import type { PageRefused } from "../../../store/records/Pagination.ts"
import type { ParentArchived, ReferenceArchived } from "../../../store/records/Restoring.ts"
import { Conflict } from "../../../api/Errors.ts"
import { answering } from "../../errors/Answering.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"

/** Turns a refused page into a 400 that names the parameter. */
export const orInvalidPage = (query: object) =>
  answering({
    PageRefused: ({ parameter, expected, received }: PageRefused) => {
      const type = parameter === "last" ? "number" : "string"
      const issue = issueAt(query as { readonly [parameter: string]: unknown }, parameter, {
        kind: "validation",
        type,
        expected
      })
      const message = `Invalid value: Expected ${expected} but received ${received}`
      return invalidInput([{ ...issue, message }])
    }
  })

/** Turns an archived parent or an archived reference of a record into a 409. */
export const orArchived = answering({
  ParentArchived: ({ record }: ParentArchived) => conflict(record, "PARENT_ARCHIVED"),
  ReferenceArchived: ({ record }: ReferenceArchived) => conflict(record, "REFERENCE_ARCHIVED")
})

const conflict = (record: string, code: string) =>
  new Conflict({ error: `${record} is archived. Restore it first`, code })
