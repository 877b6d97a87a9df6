/**
 * Everything the consumer listener answers, for the server to listen with. Needs the engine, and what `auth/` knows of
 * keys, consumers, sessions, tokens and grants.
 */
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Credentials from "../Credentials.ts"
import * as System from "../System.ts"
import { Validation } from "../Validation.ts"
import { ConsumerApi } from "./Api.ts"
import * as Auth from "./Auth.ts"
import * as Queues from "./Queues.ts"

const api = HttpApiBuilder.layer(ConsumerApi).pipe(
  Layer.provide(Layer.mergeAll(Auth.layer, Queues.layer)),
  Layer.provide(Layer.mergeAll(Credentials.layerConsumer, Validation.layer))
)

export const layer = Layer.mergeAll(api, System.layer(ConsumerApi), System.layerKeys)
