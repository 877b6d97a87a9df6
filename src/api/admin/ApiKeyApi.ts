/** API keys on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { apiKeySorts, KeyKind } from "../../domain/organization/ApiKey.ts"
import { AnswerSecret } from "../Annotations.ts"
import { listAnnotations, listQuery, pageOf } from "./Lists.ts"
import { Mode } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"

const shown = {
  kind: KeyKind,
  mode: Mode,
  display: Schema.String.annotate({ description: "The key's first characters, `…`, and its last four." }),
  createdAt: SentTimestamp
}

/** A key, of which only the ends are shown. */
export const ApiKey = Schema.Struct(shown).annotate({ identifier: "ApiKey" })

/** A key that was just made, with its whole text. */
export const RotatedApiKey = Schema.Struct({
  ...shown,
  key: Schema.String.annotate({ description: "The key itself. Only this response contains it." })
}).annotate({ identifier: "RotatedApiKey" })

export class ApiKeyApi extends HttpApiGroup.make("apiKeys")
  .add(
    HttpApiEndpoint.get("listApiKeys", "/api-keys", {
      query: listQuery(apiKeySorts),
      success: pageOf(ApiKey).annotate({ identifier: "ApiKeyPage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List the API keys",
        description: "The current keys of the caller's mode: a live key sees the live pair, a test key the test pair."
      })
    ),
    HttpApiEndpoint.post("rotateApiKey", "/api-keys/:kind/rotate", {
      params: { kind: KeyKind },
      success: RotatedApiKey
    })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replace an API key",
          description:
            "Returns a new key of the caller's mode. Only this response contains it. By then no server accepts the former " +
            "key; requests in progress are finished. It takes up to 6 seconds if a process of this installation does not " +
            "answer.\n\nThe new key is not stored. If the response is lost, the request repeated with its `Idempotency-Key` is " +
            "a 409 `IDEMPOTENCY_ANSWER_NOT_KEPT`, and `usher keys rotate` makes another key."
        })
      )
      .annotate(AnswerSecret, "nowhere")
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "API keys",
      description: "The organization's API keys in the mode of the caller's key."
    })
  ) {}
