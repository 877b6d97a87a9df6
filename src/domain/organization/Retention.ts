/** How long records that grow with traffic are kept. */

export const auditLogDays = 400

/** Security events, and how many of them one tenant keeps. The oldest are removed first. */
export const securityEventDays = 90
export const securityEventsMax = 100_000

/** Sent messages, without their text. */
export const messageDays = 90

/** Deliveries of webhooks, with their attempts. */
export const deliveryDays = 30

/** Events that receivers got. */
export const receivedEventDays = 90

/** Answers to requests with an `Idempotency-Key`, from when the request was first sent. */
export const idempotencyKeyHours = 24
