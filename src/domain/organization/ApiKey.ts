/** The API keys of an organization. */
import { Schema } from "effect"

/** A publishable key is for browsers and apps, a secret key for servers. */
export const KeyKind = Schema.Literals(["publishable", "secret"])
export type KeyKind = typeof KeyKind.Type

/** How the list of API keys can be sorted. The first is the default. */
export const apiKeySorts = ["createdAt"] as const
