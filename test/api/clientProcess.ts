/**
 * A program of its own that knows a server by the declarations of its APIs alone. It calls one operation of each API,
 * and prints what it got and which files of `src` were loaded.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { registerHooks } from "node:module"

const loaded: Array<string> = []
registerHooks({
  load: (url, context, nextLoad) => {
    const [, path] = url.split("/src/")
    if (path !== undefined && !url.includes("/node_modules/")) loaded.push(path)
    return nextLoad(url, context)
  }
})

// Only modules that are imported from here on are traced.
const { ConsumerApi } = await import("../../src/api/consumer/ConsumerApi.ts")
const { AdminApi } = await import("../../src/api/admin/AdminApi.ts")

const [consumerUrl, adminUrl, publishableKey, secretKey] = JSON.parse(process.env["TARGET"]!) as [
  string,
  string,
  string,
  string
]

const program = Effect.gen(function* () {
  const consumer = yield* HttpApiClient.make(ConsumerApi, {
    baseUrl: consumerUrl,
    transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("x-publishable-key", publishableKey))
  })
  const admin = yield* HttpApiClient.make(AdminApi, {
    baseUrl: adminUrl,
    transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(secretKey))
  })
  const experience = yield* admin.experiences.createExperience({ payload: { name: "Drop" } })
  const shown = yield* consumer.experiences.get({ params: { experienceId: experience.id } })
  return { created: experience.name, shown: shown.name }
})

const names = await Effect.runPromise(Effect.provide(program, NodeHttpClient.layerUndici))
process.stdout.write(JSON.stringify({ ...names, loaded }))
