/**
 * Records that the seed does not create. Creates one record of each further kind through the Admin API and multiplies
 * it by SQL. Also creates a queue in which all consumers wait, an audience with all consumers as members, a dynamic
 * audience, and newest consumers that share an email domain.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { declarations, type Kind, kinds } from "../../src/domain/mechanism/Mechanism.ts"
import * as Progress from "../report/Progress.ts"
import { query } from "../setup/Query.ts"
import { serve } from "./Server.ts"

/** The number of records of each kind that this file adds to the seed's, and of mechanisms of each kind. */
const many = 10_000
const ofEachKind = 2_000

/** The most archived records of each kind. A kind has as many archived records as others, up to this number. */
const archivedMax = 10_000

/** The records that cases refer to. */
export interface Made {
  readonly experienceId: string
  readonly sequenceId: string
  readonly productId: string
  readonly consumerId: string
  readonly queueId: string
  readonly auctionId: string
  readonly appointmentId: string
  readonly audienceId: string
  readonly dynamicAudienceId: string
  readonly optionId: string
}

const later = "2099-01-01T00:00:00.000Z"

/** The required settings of the kinds that have some. */
const requiredSettings: { readonly [K in Kind]?: object } = {
  queue: { admitRate: 0 },
  draw: { drawAt: later, winnerCount: 1 },
  auction: { settleAt: later, startPrice: "10" },
  appointment: { slotDurationMinutes: 60, slotsFrom: later, slotsUntil: "2099-01-02T00:00:00.000Z" }
}

/** Creates all records for the organization, in test mode. */
export async function makeMoreRecords(url: string, organizationId: string, secretKey: string): Promise<Made> {
  const made = await makeOneOfEach(url, organizationId, secretKey)
  for (const [what, text] of statements(made)) {
    Progress.say(`more records: ${what}`)
    await query(url, text)
  }
  return made
}

async function makeOneOfEach(url: string, organizationId: string, secretKey: string): Promise<Made> {
  const one = async (table: string): Promise<string> => {
    const text = `select id from ${table} where organization_id = $1 and mode = 'test' order by id limit 1`
    return (await query<{ id: string }>(url, text, [organizationId]))[0]!.id
  }
  const [experienceId, sequenceId] = [await one("experiences"), await one("sequences")]
  const logs = mkdtempSync(join(tmpdir(), "usher-lists-"))
  const server = await serve(url, logs)
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await fetch(`${server.api}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secretKey}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`)
    return ((await answer.json()) as { readonly id: string }).id
  }
  try {
    for (const kind of kinds)
      await post(`/${declarations[kind].path}`, { name: "Model", sequenceId, ...requiredSettings[kind] })
    await post("/media-assets", { name: "Model", url: "https://example.com/model.png", type: "image" })
    await post("/sync-sources", { syncSource: "Model", syncSourceId: "1" })
    const bigSpenders = { match: "all", rules: [{ field: "totalOrderValue", op: "gt", value: "1000" }] }
    return {
      experienceId,
      sequenceId,
      productId: await one("products"),
      consumerId: await one("consumers"),
      queueId: await post("/queues", { name: "All consumers", sequenceId, admitRate: 0 }),
      auctionId: await post("/auctions", { name: "Empty", sequenceId, ...requiredSettings.auction }),
      appointmentId: await post("/appointments", { name: "Empty", sequenceId, ...requiredSettings.appointment }),
      audienceId: await post("/audiences", { name: "All consumers" }),
      dynamicAudienceId: await post("/audiences", { name: "Big spenders", rules: bigSpenders }),
      optionId: await post("/variant-options", { name: "Model", values: [{ value: "S" }] })
    }
  } finally {
    await server.stop()
    rmSync(logs, { recursive: true, force: true })
  }
}

/** Returns SQL that copies the row called "Model". The copies have similar names and timestamps over two years. */
const multiplied = (
  table: string,
  columns: string,
  values: string,
  model = "m.name = 'Model'",
  count = many
): string => `
  insert into ${table} (id, organization_id, mode, created_at, created_by, updated_at, updated_by, ${columns})
  select gen_random_uuid(), m.organization_id, m.mode, at, 'bench', at, 'bench', ${values}
  from ${table} m, generate_series(1, ${count}) as n,
    lateral (select date_trunc('second', now() - n * 6300 * interval '1 second') as at) as moment
  where ${model}`

/** The seed's experiences in turn, each with its one sequence. */
const seeded = `select id, experience_id, row_number() over (order by experience_id) - 1 as nr, count(*) over () as total
  from sequences where mode = 'test' and created_by = 'seed'`
const inTurns = `(select experience_id from (${seeded}) as s where nr = n % total)`
const sequenceInTurns = `(select id from (${seeded}) as s where nr = n % total)`

const named = "(array['Summer', 'Winter', 'Archive', 'Outlet', 'Zenith'])[1 + n * 5 / (1 + 10000)] || ' ' || n"

const archivable = [
  "audiences",
  "consumers",
  "experience_pages",
  "experiences",
  "mechanisms",
  "media_assets",
  "product_variants",
  "products",
  "sequences",
  "sync_sources",
  "variant_option_values",
  "variant_options"
]

/** Returns SQL that copies the first rows of a table as archived rows. It leaves out generated columns. */
const archivedCopies = (table: string): string => `
  do $$
  declare written text;
  begin
    select string_agg(quote_ident(column_name), ', ') into written from information_schema.columns
    where table_schema = 'public' and table_name = '${table}' and is_generated = 'NEVER';
    execute format('
      insert into ${table} (%s) select %s from (
        select (jsonb_populate_record(null::${table}, to_jsonb(m) ||
          jsonb_build_object(''id'', gen_random_uuid(), ''archived'', true))).*
        from ${table} m where mode = ''test'' and not archived order by id limit ${archivedMax}
      ) as copies', written, written);
  end $$`

/** Returns the steps, each with its name and its SQL. */
function statements({ queueId, audienceId, optionId }: Made): ReadonlyArray<readonly [what: string, text: string]> {
  const consumers = `select id, row_number() over (order by created_at, id) as nr, count(*) over () as total
    from consumers where mode = 'test' and not archived`
  const at = "date_trunc('milliseconds', now() - (total - nr) * 2.5 * interval '1 second')"
  return [
    ["media assets", multiplied("media_assets", "name, record", `${named}, m.record`)],
    ["variant options", multiplied("variant_options", "name, record", `${named}, m.record`)],
    [
      "audiences",
      multiplied("audiences", "name, type, last_refreshed_at", `${named}, 'STATIC', at`, "m.name = 'All consumers'")
    ],
    [
      "values of a variant option",
      multiplied(
        "variant_option_values",
        "option_id, value, is_centrally_managed, sort_order, record",
        "m.option_id, 'V' || n, true, n, m.record",
        `m.option_id = '${optionId}'`,
        999
      )
    ],
    [
      "sync sources",
      multiplied(
        "sync_sources",
        "sync_source, sync_source_id, record",
        `${named}, n, m.record`,
        "m.sync_source = 'Model'"
      )
    ],
    [
      "sequences",
      multiplied(
        "sequences",
        "experience_id, name, record",
        `${inTurns}, ${named}, jsonb_build_object('priority', n % 50)`,
        "m.id = (select min(id::text)::uuid from sequences where mode = 'test')"
      )
    ],
    [
      "mechanisms",
      multiplied(
        "mechanisms",
        "experience_id, sequence_id, kind, configuration, teardown_status",
        `${inTurns}, ${sequenceInTurns}, m.kind,
          m.configuration || jsonb_build_object('name', ${named})
            || case when n % 2 = 0 then jsonb_build_object('openAt', to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS".000Z"')) else '{}' end,
          case when n % 10 = 0 then null else 'completed' end`,
        "m.configuration ->> 'name' = 'Model'",
        ofEachKind
      )
    ],
    [
      "the heads of mechanisms",
      `insert into mechanism_heads (mechanism_id, sequence, wake_at)
       select m.id, h.sequence, null from mechanisms m
       join mechanisms model on model.kind = m.kind and model.configuration ->> 'name' = 'Model'
       join mechanism_heads h on h.mechanism_id = model.id where m.created_by = 'bench'`
    ],
    [
      "up to where the places of mechanisms are written",
      `insert into place_projections (mechanism_id, sequence)
       select h.mechanism_id, h.sequence from mechanism_heads h join mechanisms m on m.id = h.mechanism_id
       where m.created_by = 'bench'`
    ],
    [
      "the journal of mechanisms",
      `insert into journal (mechanism_id, sequence, at, type, consumer_id, data)
       select m.id, j.sequence, j.at, j.type, j.consumer_id, j.data from mechanisms m
       join mechanisms model on model.kind = m.kind and model.configuration ->> 'name' = 'Model'
       join journal j on j.mechanism_id = model.id where m.created_by = 'bench'`
    ],
    [
      "one email domain for the newest tenth of the consumers",
      `update consumers set email = replace(email, '@example.com', '@partner.example.com')
       where id in (select id from (${consumers}) as c where nr > total * 0.9)`
    ],
    [
      "members of an audience, all consumers",
      `insert into audience_members (audience_id, consumer_id, added_at)
       select '${audienceId}', id, ${at} from (${consumers}) as c order by nr`
    ],
    [
      "the member count of the audience",
      `update audiences set member_count = (select count(*) from audience_members) where id = '${audienceId}'`
    ],
    [
      "places in a queue, all consumers",
      `insert into places (mechanism_id, consumer_id, status, entered_at, updated_at)
       select '${queueId}', id, 'QUEUED', ${at}, ${at} from (${consumers}) as c order by nr`
    ],
    [
      "the journal of the queue",
      `insert into journal (mechanism_id, sequence, at, type, consumer_id)
       select '${queueId}', sequence + nr, ${at}, 'Entered', id from (${consumers}) as c, mechanism_heads
       where mechanism_id = '${queueId}' order by nr`
    ],
    [
      "the head of the queue",
      `update mechanism_heads set sequence = (select max(sequence) from journal where mechanism_id = '${queueId}')
       where mechanism_id = '${queueId}'`
    ],
    [
      "up to where the places of the queue are written",
      `update place_projections set sequence = (select max(sequence) from journal where mechanism_id = '${queueId}')
       where mechanism_id = '${queueId}'`
    ],
    ...archivable.map((table) => [`archived ${table}`, archivedCopies(table)] as const),
    ["vacuum analyze", "vacuum analyze"]
  ]
}
