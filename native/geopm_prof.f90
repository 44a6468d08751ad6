! Marking of regions from Fortran: geopm_fortran(3). Functions return 0, or a negative number of geopm_error.h. Without a
! controller they do nothing and return 0. Any thread may call them.
module geopm_prof
    use, intrinsic :: iso_c_binding
    implicit none

    ! Hints: what a region mostly does.
    integer(8), parameter :: GEOPM_REGION_HINT_UNSET = 0
    integer(8), parameter :: GEOPM_REGION_HINT_UNKNOWN = 1
    integer(8), parameter :: GEOPM_REGION_HINT_COMPUTE = 2
    integer(8), parameter :: GEOPM_REGION_HINT_MEMORY = 3
    integer(8), parameter :: GEOPM_REGION_HINT_NETWORK = 4
    integer(8), parameter :: GEOPM_REGION_HINT_IO = 5
    integer(8), parameter :: GEOPM_REGION_HINT_SERIAL = 6
    integer(8), parameter :: GEOPM_REGION_HINT_PARALLEL = 7
    integer(8), parameter :: GEOPM_REGION_HINT_IGNORE = 8
    integer(8), parameter :: GEOPM_REGION_HINT_INACTIVE = 9
    integer(8), parameter :: GEOPM_REGION_HINT_SPIN = 10

    interface
        ! Stores the number of the region of that name, which ends in //c_null_char, in region_id. The first hint of a name
        ! counts. -3 if the hint is unknown.
        function geopm_prof_region(region_name, hint, region_id) bind(C) result(err)
            import :: c_char, c_int, c_int64_t
            character(kind=c_char), intent(in) :: region_name(*)
            integer(c_int64_t), value, intent(in) :: hint
            integer(c_int64_t), intent(out) :: region_id
            integer(c_int) :: err
        end function

        ! The calling thread enters the region. -3 if geopm_prof_region did not give region_id.
        function geopm_prof_enter(region_id) bind(C) result(err)
            import :: c_int, c_int64_t
            integer(c_int64_t), value, intent(in) :: region_id
            integer(c_int) :: err
        end function

        ! The calling thread leaves the innermost region, even if region_id is another one. -1 if it is in no region.
        function geopm_prof_exit(region_id) bind(C) result(err)
            import :: c_int, c_int64_t
            integer(c_int64_t), value, intent(in) :: region_id
            integer(c_int) :: err
        end function

        ! Counts an epoch of the process: a pass through the outermost loop begins.
        function geopm_prof_epoch() bind(C) result(err)
            import :: c_int
            integer(c_int) :: err
        end function

        ! The application's time ends. Without a call it ends when the process does.
        function geopm_prof_shutdown() bind(C) result(err)
            import :: c_int
            integer(c_int) :: err
        end function

        ! Adds overhead_sec, seconds that the program itself has spent on marking, to those that the report shows.
        function geopm_prof_overhead(overhead_sec) bind(C) result(err)
            import :: c_double, c_int
            real(c_double), value, intent(in) :: overhead_sec
            integer(c_int) :: err
        end function

        ! Announces that the process's threads together will do num_work_unit (2 or more) units of work in the region they are in.
        function geopm_tprof_init(num_work_unit) bind(C) result(err)
            import :: c_int, c_int32_t
            integer(c_int32_t), value, intent(in) :: num_work_unit
            integer(c_int) :: err
        end function

        ! The calling thread has done one of the announced units.
        function geopm_tprof_post() bind(C) result(err)
            import :: c_int
            integer(c_int) :: err
        end function
    end interface
end module geopm_prof
