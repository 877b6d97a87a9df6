/** Forms that a screen shows again when they are refused, with what was typed and what is wrong. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Refusal } from "../../Refusal.ts"
import type { Reply } from "../Route.ts"
import { type Problems, problemsOf, type Sent } from "./Form.ts"

export type Call<A> = Effect.Effect<A, Refusal, HttpServerRequest.HttpServerRequest>

/** A form that was refused: its name among those of the screen, and the record that it is about. */
export interface RefusedForm<Name extends string> extends Sent {
  readonly form: Name
  readonly id?: string
  readonly problems: Problems
}

/** What the handler of a form does when the form is refused. */
export interface Refusing<Name extends string> {
  /** Shows the screen again, with these problems. */
  readonly refuse: (refused: Pick<RefusedForm<Name>, "form" | "id" | "problems">) => Call<Reply>
  /** Does the same if the API refuses a call. `fieldAt` returns the name of the field that a value came from. */
  readonly orShown: (
    form: Pick<RefusedForm<Name>, "form" | "id">,
    fieldAt?: (path: ReadonlyArray<string>) => string | undefined
  ) => (run: Call<Reply>) => Call<Reply>
}

/** Makes both from the function that shows the screen with a refused form. */
export const refusing = <Name extends string>(
  fields: URLSearchParams,
  show: (refused: RefusedForm<Name>) => Call<Reply>
): Refusing<Name> => {
  const refuse: Refusing<Name>["refuse"] = (refused) => show({ ...refused, fields })
  return {
    refuse,
    orShown: (form, fieldAt = ([setting]) => setting) =>
      Effect.catchTag("Refusal", (refusal) =>
        isOfForm(refusal) ? refuse({ ...form, problems: problemsOf(refusal, fieldAt) }) : Effect.fail(refusal)
      )
  }
}

/** True if the API could accept another input, or the record cannot be changed any more. */
const isOfForm = ({ status }: Refusal): boolean => status === 400 || status === 409
