/**
 * One mailbox, one account: the addresses of providers that are known to ignore dots or tags, in one spelling. Of other
 * addresses the spelling is not known, and the function returns null.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The providers document it: Gmail ignores dots and the part after a plus; the others ignore the part after a plus.
  yield* sql`
    create function mailbox_of(email text) returns text language sql immutable parallel safe as $$
      select case
        when host in ('gmail.com', 'googlemail.com') then replace(name, '.', '') || '@gmail.com'
        when host in (
          'outlook.com', 'hotmail.com', 'live.com', 'icloud.com', 'me.com', 'mac.com', 'fastmail.com', 'proton.me',
          'protonmail.com', 'pm.me'
        ) then name || '@' || host
      end
      from (
        select split_part(split_part(lower(email), '@', 1), '+', 1) as name, split_part(lower(email), '@', 2) as host
      ) parts
      where name <> ''
    $$`
  yield* sql`
    create index consumers_by_mailbox on consumers (organization_id, mode, mailbox_of(email))
    where type = 'authenticated' and not archived and mailbox_of(email) is not null`
})
