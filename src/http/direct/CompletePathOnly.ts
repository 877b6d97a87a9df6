/** The annotation of operations that are not for the direct path. */
import { Context } from "effect"

/** Whether only HttpApi answers an operation: its handler reads more of the request, or refuses it with a limit of its own. */
export const CompletePathOnly = Context.Reference<boolean>("usher/http/direct/CompletePathOnly", {
  defaultValue: () => false
})
