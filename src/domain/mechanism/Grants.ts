/**
 * Rules that the kinds which grant have in common. A grant is a place in the kind's granted status.
 */
import type { IndexedList, Member } from "./IndexedList.ts"
import type { TimedTransition } from "./Timed.ts"
import type { Millis } from "../values/Time.ts"

/** A place that a grant can expire in; `order` is the expiry while it is granted. */
interface Expirable<P> extends Member<P> {
  readonly consumerId: string
  order: Millis
}

/** The expiry of the next grant that was not used in time. */
export const expiry: TimedTransition<
  { readonly expiring: { readonly first: { readonly consumerId: string; readonly order: Millis } | undefined } },
  { readonly _tag: "Expired"; readonly at: Millis; readonly consumerId: string }
> = {
  dueAt: ({ expiring }) => expiring.first?.order ?? Infinity,
  make: ({ expiring }, at) => ({ _tag: "Expired", at, consumerId: expiring.first!.consumerId })
}

/** Sets the expiry of a grant made at `at`, and lists the grant with those that expire. It must not be listed yet. */
export const startExpiry = <P extends Expirable<P>>(
  {
    configuration,
    expiring
  }: {
    readonly configuration: { readonly admissionExpirationSeconds?: number | undefined }
    readonly expiring: IndexedList<P>
  },
  place: P,
  at: Millis
): void => {
  const { admissionExpirationSeconds } = configuration
  place.order = admissionExpirationSeconds === undefined ? Infinity : at + admissionExpirationSeconds * 1000
  if (place.order !== Infinity) expiring.insert(place)
}
