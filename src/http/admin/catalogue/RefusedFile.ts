/** The refusal of an uploaded file. */
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"

/** Returns the 400 for a file that is not as `expected`. */
export const refusedFile = (type: "font" | "picture", expected: string) => {
  const issue = issueAt({}, [], { kind: "validation", type, expected })
  return invalidInput([{ ...issue, received: "another file", message: `Invalid value: Expected ${expected}` }])
}
