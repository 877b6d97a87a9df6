/** Consumers with their places and sessions on the Consumer API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { PersonName } from "../../domain/consumer/Consumer.ts"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { placeFields } from "../../domain/mechanism/PlaceFields.ts"
import { EmailText } from "../../domain/values/Email.ts"
import { Country, PhoneText } from "../Addresses.ts"
import { ConsumerAction, ServerAction } from "../Credentials.ts"
import { CompletePathOnly } from "../Annotations.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { EndedSessions, sessionFields } from "../Sessions.ts"
import { kinds } from "../../domain/mechanism/Mechanism.ts"
import { CodeRequestId, InvalidOneTimeCode, OneTimeCode } from "./AuthApi.ts"

/** A place of the consumer in a mechanism. */
const ActivePlace = Schema.Struct({
  distributionId: Id,
  type: Schema.Literals(kinds),
  experienceId: Id,
  sequenceId: Id,
  name: Schema.String.annotate({ description: "The mechanism's." }),
  enteredAt: SentTimestamp,
  updatedAt: SentTimestamp,
  ...placeFields
}).annotate({ identifier: "ActivePlace" })

/** A consumer and its active places, the last entered first. */
export const Profile = Schema.Struct({
  id: Id,
  type: Schema.Literals(["guest", "authenticated"]),
  email: Schema.NullOr(Schema.String),
  phone: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String),
  fullName: Schema.NullOr(Schema.String),
  createdAt: SentTimestamp,
  places: Schema.Array(ActivePlace)
}).annotate({ identifier: "Consumer" })

/** The body of `PUT /consumers/me`. */
export const ChangeProfile = Schema.Struct({
  name: Schema.optionalKey(Schema.NullOr(PersonName)),
  fullName: Schema.optionalKey(Schema.NullOr(PersonName)),
  email: Schema.optionalKey(EmailText),
  phone: Schema.optionalKey(PhoneText),
  defaultCountry: Schema.optionalKey(Country),
  code: Schema.optionalKey(OneTimeCode),
  requestId: CodeRequestId
}).annotate({ identifier: "ChangeConsumer" })

/** A session that has not ended. */
export const Session = Schema.Struct({
  ...sessionFields,
  current: Schema.Boolean.annotate({ description: "True for the session whose token was sent." })
}).annotate({ identifier: "Session" })

const group = HttpApiGroup.make("consumers").annotateMerge(
  OpenApi.annotations({ title: "Consumers", description: "A consumer, the places it has, and its sessions." })
)

export class ProfilesGroup extends group.add(
  HttpApiEndpoint.get("me", "/consumers/me", { success: Profile })
    .middleware(ConsumerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Get the consumer itself",
        description:
          "Includes its active places in mechanisms of all kinds, as last recorded: at most 100. `…/status` of each has " +
          "more fields."
      })
    ),
  HttpApiEndpoint.put("changeMe", "/consumers/me", {
    payload: ChangeProfile,
    success: Profile,
    error: [Forbidden, Conflict, InvalidOneTimeCode]
  })
    .annotate(CompletePathOnly, true)
    .middleware(ConsumerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Change the consumer itself",
        description:
          "Send only the fields to change. An absent field keeps its value; null removes a name. An address can be " +
          "replaced, not removed.\n\nThe consumer proves a new address with the code that `POST /auth/otp/request` sent " +
          "there, one new address in each request. Its other sessions then end. A wrong code is a 401 and counts as one of " +
          "its 5 tries. An address of another consumer is a 409 (`EMAIL_TAKEN`, `PHONE_TAKEN`), and the code stays " +
          "valid.\n\nA guest can set only its names (403 otherwise); it gets an address by `POST /auth/otp/verify`. The " +
          "organization's server is trusted, as on the Admin API: with the secret key no code is needed or checked, also " +
          "for a guest."
      })
    ),
  HttpApiEndpoint.get("mySessions", "/consumers/me/sessions", {
    success: Schema.Struct({ data: Schema.Array(Session) }).annotate({ identifier: "Sessions" })
  })
    .middleware(ConsumerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "List the consumer's sessions",
        description:
          "The present session first, then the others by the latest start: at most 100. With the secret key none is " +
          "`current`."
      })
    ),
  HttpApiEndpoint.delete("endMySessions", "/consumers/me/sessions", { success: EndedSessions })
    .middleware(ConsumerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "End all of the consumer's sessions",
        description:
          "Ends them at once on every server, with their refresh tokens, the present one included. The consumer signs in " +
          "again and keeps its places. A guest cannot return to its places."
      })
    ),
  HttpApiEndpoint.delete("endMySession", "/consumers/me/sessions/:sessionId", {
    params: { sessionId: Id },
    success: Session,
    error: NotFound
  })
    .middleware(ConsumerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "End a session of the consumer",
        description: "Ends it at once on every server, with its refresh token. It may be the present one."
      })
    ),
  HttpApiEndpoint.get("get", "/consumers/:consumerId", {
    params: { consumerId: Id },
    success: Profile,
    error: NotFound
  })
    .middleware(ServerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Get a consumer",
        description: "The result of `/consumers/me` for this consumer."
      })
    )
) {}
