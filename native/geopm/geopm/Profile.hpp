/* Marking from C++, with the functions of geopm_prof.h. Where those return an error, these throw a geopm::Exception. */
#ifndef TRISCOPE_GEOPM_PROFILE_HPP
#define TRISCOPE_GEOPM_PROFILE_HPP

#include <cstdint>
#include <string>

#include "geopm/Exception.hpp"
#include "geopm_hash.h"
#include "geopm_hint.h"
#include "geopm_prof.h"

namespace geopm {

/* Marks the regions of this process. */
class Profile {
  public:
    /* Returns the only instance. */
    static Profile &default_profile() {
        static Profile profile;
        return profile;
    }
    /* Returns the number of the region of that name, for enter and exit; `hint`: one of geopm_hint.h. */
    uint64_t region(const std::string &region_name, long hint) {
        uint64_t id = 0;
        checked(geopm_prof_region(region_name.c_str(), static_cast<uint64_t>(hint), &id));
        return id;
    }
    /* The calling thread enters the region. */
    void enter(uint64_t region_id) { checked(geopm_prof_enter(region_id)); }
    /* The calling thread leaves the innermost region. Throws if it is in none. */
    void exit(uint64_t region_id) { checked(geopm_prof_exit(region_id)); }
    /* Counts an epoch of the process. */
    void epoch() { checked(geopm_prof_epoch()); }
    /* The application's time ends. */
    void shutdown() { checked(geopm_prof_shutdown()); }
    /* Adds seconds that the program itself has spent on marking. */
    void overhead(double overhead_sec) { checked(geopm_prof_overhead(overhead_sec)); }
    /* Announces that the threads together will do so many units of work (2 or more) in the region they are in. */
    void thread_init(uint32_t num_work_unit) { checked(geopm_tprof_init(num_work_unit)); }
    /* The calling thread has done one unit. Its CPU, the argument, is not used. */
    void thread_post(int) { checked(geopm_tprof_post()); }

  private:
    Profile() = default;
    static void checked(int err) {
        if (err) throw Exception("Profile", err);
    }
};

}
#endif
