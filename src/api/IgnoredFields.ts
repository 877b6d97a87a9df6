/**
 * The fields of a body that an operation ignores, named in the header `X-Ignored-Fields`. Unknown fields are accepted,
 * so without the header a misspelled field would be lost silently. Only names are sent, no values.
 */
import { HttpApiMiddleware } from "effect/http-api"

/** The bounds of the header. `more` is its last item if it does not have all fields. */
export const ignoredFieldsBounds = { pathsMax: 20, headerLengthMax: 1_024, more: "..." } as const

/** The middleware of operations with a JSON body. The envelope adds the header to their answers, errors included. */
export class IgnoredFields extends HttpApiMiddleware.Service<IgnoredFields>()("usher/api/IgnoredFields") {}

/** The header in the OpenAPI description. */
export const ignoredFieldsHeader = {
  required: false,
  schema: { type: "string", maxLength: ignoredFieldsBounds.headerLengthMax },
  description:
    "The fields of the request's body that the operation does not know and has ignored, as paths that are separated by " +
    "a comma and a space: `colour, variants[0].picture`. Of equal fields in the items of an array the first is named. " +
    `At most ${ignoredFieldsBounds.pathsMax} paths; a last item \`${ignoredFieldsBounds.more}\` says that there are more. ` +
    "Characters of a name that a path or a header cannot have are percent-encoded. Absent if no field was ignored."
} as const
