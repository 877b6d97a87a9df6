/** A message in an actor's mailbox. */
import { Context, Effect, type Exit, type Tracer } from "effect"
import type { Command } from "../../domain/mechanism/Decider.ts"
import { CurrentSpan } from "../../measures/Traces.ts"
import type { Commit } from "../../store/journal/Journal.ts"

/** A command and its caller's reply function. A message without a command is a wake-up. */
export interface Message<E> {
  readonly command?: Command
  /** The span in which the caller waits, if its request is sampled. */
  readonly span?: Tracer.Span | undefined
  readonly answer: (exit: Exit.Exit<unknown, E>) => void
}

export const wakeUp: Message<unknown> = { answer: () => {} }

/** Makes the function that puts a command into the mailbox and waits for its answer. */
export const sender = <E>(
  isTraced: boolean,
  put: (message: Message<E>) => void
): ((command: Command) => Effect.Effect<unknown, E>) =>
  isTraced
    ? (command) =>
        Effect.withFiber(({ context }) => {
          const span = Context.get(context, CurrentSpan)
          return Effect.callback((answer) => put({ command, span, answer }))
        })
    : (command) => Effect.callback((answer) => put({ command, answer }))

export function commandsOf(messages: ReadonlyArray<Message<never>>): ReadonlyArray<Command> {
  const commands: Array<Command> = []
  for (const { command } of messages) if (command !== undefined) commands.push(command)
  return commands
}

/** Gives a commit the spans in which its callers wait, if there are any. */
export function withSpans(commit: Commit, messages: ReadonlyArray<Message<never>>): Commit {
  let spans: Array<Tracer.Span> | undefined
  for (const { span } of messages) if (span !== undefined) (spans ??= []).push(span)
  return spans === undefined ? commit : { ...commit, spans }
}
