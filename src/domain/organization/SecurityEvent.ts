/**
 * Security events of an organization: events about its accounts and keys, and refused abuse. Events with equal fields
 * are one event with a count, so a flood does not write a row for each request.
 */
import { Schema } from "effect"

/** The kinds of security events. */
export const SecurityEventType = Schema.Literals([
  "sign_in",
  "lock_out",
  "key_rotation",
  "code_flood",
  "sms_refused",
  "challenge_refused",
  "rate_limited"
])
export type SecurityEventType = typeof SecurityEventType.Type

/** Further facts of an event: short texts, numbers and truth values. Never a secret. */
export type Details = { readonly [name: string]: string | number | boolean }

export interface NewSecurityEvent {
  readonly type: SecurityEventType
  readonly consumerId?: string | undefined
  readonly clientAddress?: string | undefined
  readonly details?: Details
}

/** How the list of security events can be sorted. The first is the default. */
export const securityEventSorts = ["at"] as const
