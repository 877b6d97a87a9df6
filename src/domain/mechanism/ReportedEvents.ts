/**
 * The events of mechanisms that webhooks report, as a kind declares them.
 *
 * Only the fields declared in a row leave the journal. A new field of an event is private until a row names it, so seeds,
 * salts and confirmation codes cannot leak.
 */

/** A type, and the fields of the journal's event that its `data` contains, by the name they have there. */
export interface Reported {
  readonly type: string
  readonly fields?: { readonly [field: string]: string }
}

/** The types that one event is reported as. */
export type ReportedRow = readonly [Reported, ...ReadonlyArray<Reported>]

/** The reported events of a kind. Webhooks do not report its other events. */
export type ReportedEvents<Tag extends string = string> = { readonly [T in Tag]?: ReportedRow }

/** Rows that several kinds have. */
export const joined: ReportedRow = [{ type: "distribution.joined" }]
export const admitted: ReportedRow = [{ type: "distribution.admitted" }]
export const won: ReportedRow = [{ type: "distribution.admitted" }, { type: "distribution.winner_selected" }]
export const left: ReportedRow = [{ type: "distribution.left" }]
export const denied: ReportedRow = [{ type: "distribution.denied", fields: { reason: "reason" } }]

/** The events of every kind. */
export const reportedOfAll = {
  Configured: [{ type: "distribution.updated" }],
  Closed: [{ type: "distribution.closed" }],
  Ended: [{ type: "distribution.ended" }]
} as const satisfies ReportedEvents

/** The events of grants, in a kind that grants. */
export const reportedOfGrants = {
  Completed: [{ type: "distribution.completed" }],
  Denied: denied,
  Expired: [{ type: "distribution.expired" }],
  GrantExtended: [{ type: "distribution.extended", fields: { expiresAt: "expires_at" } }]
} as const satisfies ReportedEvents
