/** Flags and examples that several commands share, and errors for an unknown organization or an unavailable database. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { isUuid } from "../../domain/values/Ids.ts"
import { StartRefused } from "../../settings/Settings.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"

/** Makes a flag that takes an id. `whose` names the thing with this id, with its article. */
export const idFlag = (name: string, whose: string) =>
  Flag.String(name).pipe(
    Flag.filter(isUuid, () => `the id of ${whose}, such as 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a`),
    Flag.map((id) => id.toLowerCase())
  )

/** Makes a flag that takes the address of a server. */
export const address = (name: string, described: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(described),
    Flag.filter(
      (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
      () => "an http or https address"
    )
  )

/** Flag: the organization's id. */
export const organization = idFlag("organization", "an organization").pipe(
  Flag.withDescription("The organization's id, as `usher organizations list` shows it")
)

/** Flag: print JSON for a script. */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one line of JSON and nothing else on standard output"),
  Flag.withDefault(false)
)

export const example = (command: string, description: string) => Command.withExamples([{ command, description }])

/** The examples of a command that prints text, or JSON with the flag. */
export const examples = (command: string) =>
  Command.withExamples([
    { command, description: "For people" },
    { command: `${command} --json`, description: "For scripts" }
  ])

/** Turns an unknown organization or a database failure into a message for the operator. */
export function refused(organizationId: string) {
  return <A, E, R>(effect: Effect.Effect<A, E | { readonly _tag: "OrganizationNotFound" } | Unavailable, R>) =>
    Effect.catchTags(effect as Effect.Effect<A, { readonly _tag: "OrganizationNotFound" } | Unavailable, R>, {
      OrganizationNotFound: () =>
        Effect.fail(
          new StartRefused({
            message: `--organization: there is no organization ${organizationId}. Run \`usher organizations list\` to see which there are.`
          })
        ),
      Unavailable: ({ cause }) =>
        Effect.fail(new StartRefused({ message: `The database could not be queried: ${String(cause)}. Try again.` }))
    })
}

/** Turns a database failure into a message for the operator. */
export const orDatabaseProblem = <A, E, R>(effect: Effect.Effect<A, E | Unavailable, R>) =>
  Effect.catchTag(effect as Effect.Effect<A, Unavailable, R>, "Unavailable", ({ cause }) =>
    Effect.fail(new StartRefused({ message: `The database could not be queried: ${String(cause)}. Try again.` }))
  ) as Effect.Effect<A, Exclude<E, Unavailable> | StartRefused, R>
