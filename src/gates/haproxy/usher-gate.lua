-- Asks Usher's gate whether a request may go on to the shop. Change the address if the gate has another one.
local gate = "http://127.0.0.1:4180/forward-auth"

-- Headers of a connection or of a body, which the question does not have.
local others = { "host", "connection", "content-length", "transfer-encoding", "expect", "upgrade", "te", "trailer" }

local function header(name, values, reply)
  if name == "content-length" or name == "transfer-encoding" or name == "connection" or name == "keep-alive" then return end
  for _, value in pairs(values) do reply:add_header(name, value) end
end

core.register_action("usher_gate", { "http-req" }, function(txn)
  local headers = txn.http:req_get_headers()
  for _, name in ipairs(others) do headers[name] = nil end
  -- Overwrites what a client says of its own request.
  headers["x-forwarded-method"] = { txn.sf:method() }
  headers["x-forwarded-uri"] = { txn.sf:pathq() }
  headers["x-forwarded-host"] = { txn.sf:req_fhdr("host") }
  headers["x-real-ip"] = { txn.sf:src() }
  local answer = core.httpclient():get({ url = gate, headers = headers, timeout = 5000 })
  if answer.status == 204 then
    local cookies = answer.headers["set-cookie"]
    if cookies then txn:set_var("txn.usher_cookie", cookies[0]) end
    return
  end
  -- Without an answer the gate itself is away.
  local reply = txn:reply({ status = answer.status == 0 and 503 or answer.status })
  for name, values in pairs(answer.headers or {}) do header(name, values, reply) end
  if answer.body then reply:set_body(answer.body) end
  txn:done(reply)
end)
