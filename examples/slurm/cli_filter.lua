-- SPDX-License-Identifier: BSD-3-Clause
--
-- Tells users how long their job would wait, in one line, when they call sbatch.
--
-- Put this file beside slurm.conf on each host where jobs are submitted, and the line
--     CliFilterPlugins=cli_filter/lua
-- into slurm.conf. It needs curl. It runs in the user's sbatch, as that user, and never in slurmctld. Whatever goes
-- wrong (the service is away, slow, or has no answer) it is silent, and the job is submitted as it would be without it.

local SERVER = "http://127.0.0.1:8017" -- the service
local CLUSTER = nil                    -- its name there, if the service has several
local DEFAULT_QUEUE = nil              -- the partition of jobs that name none
local SENDS_QUEUE = true               -- false: if "by" of /api/v1/clusters is empty
local SENDS_TIME = true                -- false: if "told_apart_by" there is requested_processors
local SENDS_PROCESSORS = false         -- true: if it is requested_processors or requested_work
local SECONDS = 0.3                    -- after which it gives up
local LONGEST_DAYS = 3660              -- beyond that, sbatch has been given no time limit

-- Return a text as an address may have it: nothing is left that a shell could read as a command.
local function escaped(text)
    return (tostring(text):gsub("[^%w%-%._~]", function(character)
        return string.format("%%%02X", character:byte())
    end))
end

local function number(text)
    return tonumber((tostring(text or ""):match("^%d+"))) or 0
end

-- Return the time limit as the service reads it; nil where there is none.
local function time_limit(options)
    local text = options["time"] or ""
    local days = tonumber(text:match("^(%d+)%-") or "0")
    if not text:match("^[%d%-]*%d+:%d+:%d+$") or days > LONGEST_DAYS then
        return nil
    end
    return text
end

-- Return how many processors Slurm counts at submission, as far as it is told here: not of -w, -B and options of GPUs.
local function processors(options)
    local nodes, tasks = number(options["nodes"]), number(options["ntasks"])
    if options["overcommit"] == "set" then
        return math.max(nodes, 1)
    end
    if tasks <= 1 then -- 1 is also what Slurm has where no tasks are said
        local each = number(options["ntasks-per-node"])
        local is_fixed = tostring(options["nodes"] or ""):match("^%d+$")
        tasks = (is_fixed or each > 0) and nodes * math.max(each, 1) or 1
    end
    return math.max(tasks, 1) * math.max(number(options["cpus-per-task"]), 1)
end

-- Return the address that is asked; nil if the job does not say enough.
local function question(options)
    local asked = { "quantile=0.5", "quantile=0.9" }
    local function add(name, value)
        asked[#asked + 1] = name .. "=" .. escaped(value)
    end
    if CLUSTER then
        add("cluster", CLUSTER)
    end
    if SENDS_QUEUE then
        local queue = (options["partition"] or DEFAULT_QUEUE or ""):match("^[^,]+") -- of several the first
        if not queue then
            return nil
        end
        add("queue", queue)
    end
    if SENDS_TIME then
        local limit = time_limit(options)
        if not limit then
            return nil
        end
        add("time", limit)
    end
    if SENDS_PROCESSORS then
        add("processors", processors(options))
    end
    return SERVER .. "/api/v1/wait?" .. table.concat(asked, "&")
end

-- Return what the service answers; nothing if it does not, or not all of it in time.
local function answer(address)
    local command = string.format(
        "{ text=$(curl -q --silent --fail --noproxy '*' --proto =http,https --max-time %s '%s') "
            .. "&& printf %%s \"$text\"; } 2>/dev/null",
        SECONDS, address)
    local pipe = io.popen(command)
    if not pipe then
        return nil
    end
    local text = pipe:read("*a")
    pipe:close()
    return text
end

-- Return the sentence of an answer; nil where nothing is predicted.
local function words(text)
    if not text:find('"no_prediction"%s*:%s*null') then
        return nil
    end
    local said = text:match('"in_words"%s*:%s*"(.-[^\\])"')
    if not said then
        return nil
    end
    said = said:gsub("\\u%x%x%x%x", "?"):gsub("\\[bfnrt]", " "):gsub("\\(.)", "%1"):gsub("%c", " ")
    return (said:gsub("[\128-\255]", "?"):sub(1, 400))
end

local function tell(options)
    local is_wanted = options["type"] == "sbatch" and number(options["quiet"]) == 0
    if not is_wanted or options["parsable"] == "set" or options["test-only"] == "set" then
        return
    end
    local address = question(options)
    local said = address and words(answer(address) or "")
    if said then
        io.stderr:write("sbatch: " .. said .. "\n")
    end
end

function slurm_cli_setup_defaults(options, early)
    return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, component)
    if component == 0 then
        pcall(tell, options)
    end
    return slurm.SUCCESS
end

function slurm_cli_post_submit(component, job, step)
    return slurm.SUCCESS
end
