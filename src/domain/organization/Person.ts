/** The person who uses the dashboard of an organization, and the rights of each role. */
import { Schema } from "effect"
import { PersonName } from "../consumer/Consumer.ts"
import { recordSchema } from "../values/Record.ts"
import { text } from "../values/Text.ts"
import { Timestamp } from "../values/Time.ts"

/** The roles. Each may do what those before it may. */
const roles = ["viewer", "operator", "admin"] as const

export const Role = Schema.Literals(roles).annotate({
  description:
    "`viewer` reads. `operator` also steers and edits. `admin` also manages keys, people and webhooks, and erases " +
    "consumers."
})
export type Role = typeof Role.Type

/** True if the role may do what needs at least the other one. */
export const mayDo = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed)

/** The fields an admin sets. The email has its one spelling. */
export const Settings = Schema.Struct({
  email: text({ minLength: 1, maxLength: 320 }),
  name: Schema.optionalKey(PersonName),
  role: Role
})
export type Settings = typeof Settings.Type

/** The person in responses. */
export const Person = recordSchema("Person", {
  email: Schema.String,
  name: Schema.NullOr(Schema.String),
  role: Role,
  lastSignInAt: Schema.NullOr(Timestamp).annotate({ description: "Null before the first sign-in." })
})
export type Person = typeof Person.Type

/** A person as records name the author of a change. */
export const authorOf = (personId: string): string => `operator:${personId}`

/** How the list of people can be sorted. The first is the default. */
export const personSorts = ["createdAt", "email"] as const
