/** What an endpoint declares beside its input and answers: `endpoint.annotate(RateCategory, "queueEntry")`. */
import { Context } from "effect"

/** The categories of operations whose requests have limits beside the general one of their API. */
export type Category =
  | "general"
  | "otpRequest"
  | "externalAuthorization"
  | "queueEntry"
  | "auctionBid"
  | "drawEntry"
  | "analyticsQuery"

/** Which limits count the requests of an operation. */
export const RateCategory = Context.Reference<Category>("usher/api/RateCategory", { defaultValue: () => "general" })

/** Whether an operation is a status read: it is answered from memory while the database is unreachable. */
export const StatusRead = Context.Reference<boolean>("usher/api/StatusRead", { defaultValue: () => false })

/** Whether only HttpApi answers an operation: its handler reads more of the request, or refuses it with a limit of its own. */
export const CompletePathOnly = Context.Reference<boolean>("usher/api/CompletePathOnly", { defaultValue: () => false })

/** A body that is a file and not JSON: its most bytes, and the types that it may have. */
export const RawBody = Context.Reference<
  { readonly bytesMax: number; readonly types: ReadonlyArray<string> } | undefined
>("usher/api/RawBody", { defaultValue: () => undefined })

/** Whether the successes of an operation hold a secret, and whether the database stores it, sealed. */
export type SecretInAnswer = "none" | "sealed" | "nowhere"

/**
 * The secret in the successes of an operation. A secret that the database stores sealed anyway, such as a webhook's, is
 * kept with its answer, sealed in the same way. One that is stored nowhere is not kept: a repeated request learns that
 * the first one was done. For the rotation of a key, keeping the answer would not help, because the old key is no longer
 * accepted.
 */
export const AnswerSecret = Context.Reference<SecretInAnswer>("usher/api/AnswerSecret", { defaultValue: () => "none" })
