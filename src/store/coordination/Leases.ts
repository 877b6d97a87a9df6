/**
 * Leases for background work: of the processes that share a database, the holder of a lease does the work. The
 * database's clock decides when a lease expires, because all processes share it.
 */
import { Context, Effect } from "effect"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

export class Leases extends Context.Service<
  Leases,
  {
    /** Takes or extends the lease until so many seconds from now. Returns false if another owner holds it. */
    acquire(name: string, owner: string, seconds: number): Effect.Effect<boolean, Unavailable>
    /** Releases the lease if this owner holds it. */
    release(name: string, owner: string): Effect.Effect<void, Unavailable>
  }
>()("usher/store/coordination/Leases") {
  static readonly layer = onDatabase(Leases, (sql) => {
    const acquire = Effect.fnUntraced(function* (name: string, owner: string, seconds: number) {
      const rows = yield* sql`
        insert into leases as l (name, owner, held_until)
        values (${name}, ${owner}, clock_timestamp() + make_interval(secs => ${seconds}))
        on conflict (name) do update set owner = excluded.owner, held_until = excluded.held_until
        where l.owner = excluded.owner or l.held_until <= clock_timestamp()
        returning 1`
      return rows.length > 0
    }, orUnavailable)

    const release = (name: string, owner: string) =>
      orUnavailable(Effect.asVoid(sql`delete from leases where name = ${name} and owner = ${owner}`))

    return { acquire, release }
  })
}
