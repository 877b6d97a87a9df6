/**
 * The Consumer API: every path with its input, its credentials and its answers. Routes, decoding, credentials and the
 * OpenAPI description are made from it.
 */
import { HttpApi } from "effect/http-api"
import { describe } from "../OpenApi.ts"
import { gateDescription } from "../Challenge.ts"
import { Validation } from "../Validation.ts"
import { AlertsGroup } from "./AlertApi.ts"
import { AuthGroup } from "./AuthApi.ts"
import { ExperiencesGroup } from "./ExperienceApi.ts"
import { ProfilesGroup } from "./ProfileApi.ts"
import { LiveGroup } from "./LiveApi.ts"
import { GatesGroup } from "./GateApi.ts"
import { GrantsGroup } from "./RevokedGrantApi.ts"
import { kindGroups } from "./KindsApi.ts"

export const ConsumerApi = describe(
  HttpApi.make("consumer")
    .add(AuthGroup)
    .add(ExperiencesGroup)
    .add(ProfilesGroup)
    .add(AlertsGroup)
    .add(...kindGroups)
    .add(GrantsGroup)
    .add(GatesGroup)
    .add(LiveGroup)
    .middleware(Validation)
    .prefix("/api"),
  {
    title: "Usher Consumer API",
    description:
      "For browsers, apps and an organization's server: sessions, and the steps of a consumer through a release. Every " +
      "response carries `X-Request-Id` and `X-Api-Version`. It also carries the caller's rate limits: " +
      "`X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix seconds). They describe the limit " +
      "with the least remaining; on a 429, the limit that refused the request.\n\nGuest sessions, one-time codes and " +
      `entries are behind a gate for bots. ${gateDescription}`
  }
)
