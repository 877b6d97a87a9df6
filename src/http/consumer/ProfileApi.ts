/** Consumers with their places, as the Consumer API declares them (completions 2; 3, "Experience and sequences"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../domain/Ids.ts"
import { SentTimestamp } from "../../domain/Time.ts"
import { ConsumerAction, ServerAction } from "../Credentials.ts"
import { NotFound } from "../Errors.ts"

/** Where a consumer waits, takes part or holds something; further fields are the status's own. */
const ActivePlace = Schema.StructWithRest(
  Schema.Struct({
    distributionId: Id,
    type: Schema.Literals(["queue", "draw", "auction", "appointment", "timed_release", "waitlist"]),
    experienceId: Id,
    sequenceId: Id,
    name: Schema.String.annotate({ description: "The mechanism's." }),
    status: Schema.String,
    enteredAt: SentTimestamp,
    updatedAt: SentTimestamp
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
).annotate({ identifier: "ActivePlace" })

/** A consumer and its active places, those entered last first. */
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

const group = HttpApiGroup.make("consumers").annotate(OpenApi.Description, "A consumer and the places it has.")

export class ProfilesGroup extends group.add(
  HttpApiEndpoint.get("me", "/consumers/me", { success: Profile })
    .middleware(ConsumerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Get the consumer itself",
        description:
          "With its active places in mechanisms of all kinds, as last recorded: at most 100. `…/status` of each says more."
      })
    ),
  HttpApiEndpoint.get("get", "/consumers/:consumerId", {
    params: { consumerId: Id },
    success: Profile,
    error: NotFound
  })
    .middleware(ServerAction)
    .annotateMerge(
      OpenApi.annotations({ summary: "Get a consumer", description: "What it would get itself at `/consumers/me`." })
    )
) {}
